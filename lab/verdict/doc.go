// Package verdict judges claims by the records of experiments.
//
// It owns the rules by which a claim is refuted, which are stated here before any
// run, the intervals that they are judged by, and the sums over records that a
// report shows. It runs nothing, and reads records alone.
//
// # Invariants
//
// A rule compares seeds one by one: what two policies did in the same session. Its
// interval is a bootstrap over seeds, with a fixed stream of random numbers, so that
// the same records give the same verdict. A claim is supported only if its whole
// interval is on its side, and refuted only if its mean is on the other.
package verdict
