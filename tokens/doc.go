// Package tokens counts tokens: exactly, as o200k_base has them; roughly,
// without a table; and calibrated to what a provider reports for its own model.
//
// # What it owns
//
// The embedded ranks of o200k_base and the linear counter over them ([Counter]),
// the cache of counts by content ([Cache]), the estimate ([Estimate]), and the
// ratio of a provider's counts to ours ([Calibration]). Everything counts in
// tokens, and sizes are in bytes.
//
// # What it must never do
//
// It imports nothing of ours. It never touches the network or the disk, does no
// work before the first count, holds no text beyond a call, and never fails: any
// bytes have a count. Nor does it link tiktoken-go, which is quadratic on long
// runs and links net/http; that is in the reference package below this one, as
// the oracle of the tests.
//
// # Invariants
//
//   - Count(s) is the length of tiktoken-go's EncodeOrdinary(s), for every s,
//     valid UTF-8 or not. As tiktoken-go works on runes, each invalid byte is
//     counted as U+FFFD. The one exception is a single piece of more than 1 MiB,
//     that is a run of one kind of characters, which is cut: see pieceLimit.
//   - The work is O(n log n) in the longest piece and linear in the rest, for any
//     input, and its memory is bounded. There is no input that hangs it.
//   - The ranks are one immutable table, loaded once for the process on first
//     use, in some 40 ms and 5 MB (7 MB resident); it is the only package state.
//   - Calibration is integers only, so that it is the same on every machine.
package tokens
