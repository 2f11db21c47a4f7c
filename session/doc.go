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
// that a failed commit would have made is dropped and read again. What is
// written behind an answer is written while the session is still held, so that
// the same requests in the same order give the same plans.
package session
