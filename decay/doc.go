// Package decay decides what the head of the next request says and when it may
// change: which tier each compartment has under a budget, when a fold pays,
// what a stub reads, what everything costs, and the bytes of it all.
//
// It owns the selection on the hull, hysteresis, fold economics with the only
// price arithmetic of the program, emergency stubs, rendering and the numbers
// of the decision record. It must never read a clock, do input or output, call
// a model, or invent text: it chooses among representations that exist.
//
// # Invariants
//
// Same state, same bytes, on every architecture: every decision is made in
// integers or fixed point; nothing depends on the order of a map, on a locale
// or on randomness. A selection never leaves the legal range of a compartment.
// A smaller budget takes a longer prefix of the same list of demotions.
package decay
