// Package session puts one session through the steps of a pass, in their order:
// sync, measure, decide, plan, commit. It owns what is in memory of a session
// and the order in which the other packages act; it has no rule of its own.
//
// It must never answer before the commit, change a rendered byte outside a
// fold, or send what exceeds the window because of history.
//
// # Invariants
//
// One session is worked on by one goroutine at a time; sessions run beside each
// other. After an error nothing has changed, in memory or in the store: state
// that a failed commit would have made is dropped and read again. Where another
// process committed first, the session is read again and the call made again.
//
// Every pass is committed before it is answered, with all numbers that the next
// one uses: a restart at any moment changes no later plan. The one answer that
// needs no commit is a replay of what is committed already.
//
// The historian's work behind an answer is bounded and owed: it is done while the
// session is still held, or after a kill before anything else, so that the same
// requests in the same order give the same plans. A slow historian works while
// the session is free, and what it wrote is taken only if the messages stand as
// they did. Whoever wrote a compartment, it is checked, and counted anew, before
// it is stored.
package session
