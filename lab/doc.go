// Package lab measures ctxplugin from outside. Its replay plays a recorded
// session against a running binary over the real protocol, step by step as a
// host would, and shows what was folded, what it cost and whether the promises
// held.
//
// # Terminology
//
// A session file is what `opencode export` writes. It is cut into steps: one
// request before every assistant message. A view is the list of messages that
// the host would have handed over at a step, its own compactions included. A
// request is what is left of a view when the plan in force has been applied: a
// list of blocks (a text, a call, a result, a picture), each with its bytes and
// tokens. A breach is a promise that did not hold, with the place.
//
// # Invariants
//
// The checks do not trust what they check. They take bytes from the captured
// protocol and from the session file alone; revision, plan application and the
// rules of a request are written here once more, from docs/protocol.md, and
// share no code with the binary. Only token counts and prices come from the
// packages that own them, so that numbers can be compared.
//
// A replay touches no user's database: each session gets a temporary directory
// with a database and home folders of its own, and every process that it
// starts has ended when it returns. Time comes from the session file. The
// clock is read for latencies alone, and no check depends on it.
package lab
