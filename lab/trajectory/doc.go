// Package trajectory plays long sessions under several policies for old context
// and observes every turn: what is in view, what that costs, and what of it the
// work needs.
//
// # Terminology
//
// A script is a session to be played, with its hidden probes. A moment is a fold:
// old compartments, a budget, and the question at which tier each is shown. A
// policy answers it. A frame is what one request is made of: the head, the messages
// that stay, the edits of these. A turn is observed at the first request that the
// host makes for it.
//
// In a run at the same moments every policy folds when ours does, behind the same
// message, under the same budget, and with the same stubs, so that at each turn only
// the tiers differ. In a run of its own a policy folds by pressure, within a window
// for which its mean size is that of ours.
//
// # Invariants
//
// Ours is the program itself: its sessions, its historian, its selection, with a
// store in memory. The others get the compartments that its historian wrote. No
// policy but the oracles is given a probe, and nothing of a probe stands in a
// message. The same script and setup give the same frames; nothing reads a clock.
//
// Every number of a report is worked out from records, which can be written as JSON
// Lines and read again.
package trajectory
