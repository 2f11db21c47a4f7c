// Package draft has language models write compartments.
//
// It owns the way from a raw range to what a model is asked, and from what it
// answers back to compartments: chunks, their notation, the order of models,
// parsing, validation, the one round of repair, and the fall back to the built-in
// generator. It stands apart from historian, whose generator works by rule and
// calls nothing, because a draft is not trusted before it is validated.
//
// # Invariants
//
// What a model answers is a draft and nothing else. It becomes compartments only
// if every rule holds for all of it; otherwise none of it is used.
//
// The transcript is data: in the notation of a chunk it can forge no heading, no
// tag and no fence. Secrets are masked before anything leaves the process.
// Reasoning, media, synthetic text and what our own tools returned are not sent.
//
// Every range is covered: where no model writes, the built-in generator does.
// The tries are bounded, and every call is recorded before its reply is used.
//
// The package reads no clock and no randomness of its own: both are arguments.
package draft
