// Package quality is the experiment on what representations keep, apart from when
// they are chosen: the same histories, made into tiers in several ways, under
// matched budgets, asked by hidden probes.
//
// # Terminology
//
// A condition is a way to make tiers: canonical (the built-in historian), oracle
// (written from the planted items themselves), and two in which a scripted writer
// stands for a model: grounded, where each tier is written from the messages, and
// cascaded, where each is written from the one above. The scripted writer loses and
// blurs what it reads at a stated rate. A form is how a condition's tiers are shown
// under a budget: tiers lets decay choose one for each compartment; flat shows all
// compartments at one tier, the oldest lost first; raw shows the newest messages.
//
// # Invariants
//
// All conditions share compartments and sizes: each tier of a compartment may take
// the tokens that the canonical one took, so that only what is written differs.
// Writers see no probe, except the oracle, which is a bound and no competitor.
//
// The same options give the same numbers on every machine. Everything that is
// reported can be computed again from the records.
package quality
