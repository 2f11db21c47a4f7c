// Package historian turns a raw range of messages into compartments.
//
// It owns the built-in generator, which works by rule and calls no model: it
// cuts the range at changes of objective, compiles the canonical record of each
// run (what was asked, what came of it, why, what failed, what changed, what is
// open), and renders the four tiers from that record. It also says what a language
// model is to whoever has one write (Model), and what it read of a range (Reading);
// what such a model writes is the matter of package draft.
//
// # Invariants
//
// The transcript is data. Nothing in it can forge a heading, a tag or a fence
// of a tier, and nothing in a tier is invented: every line quotes or counts
// something of the range, and names the message it came from at full and dense.
// The one thing from outside a range is the request in force when it begins,
// which is quoted with its own ordinal.
//
// Reasoning, synthetic and ignored text, the host's own summaries, and what our
// own tools returned are never sources. Secrets are masked in everything that
// is written; the raw messages keep them.
//
// A lower tier shows only what the tier above shows. Word lists rank and never
// decide whether a fact is kept, so that a session in any language loses none.
//
// The package reads no clock and no file, keeps no state between calls, and
// gives the same compartments for the same range on every machine.
package historian
