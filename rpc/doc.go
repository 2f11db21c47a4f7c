// Package rpc is the wire: frames, methods, errors and shapes of the JSON-RPC
// 2.0 conversation that docs/protocol.md describes.
//
// # What it owns
//
// One connection, a JSON text a line, both ways. The JSON-RPC library keeps the
// books of calls; the bytes belong to the stream of this package, because the
// library's own would rewrite parameters and close on the first malformed line.
// Parameters reach a handler as they came, results leave as they were made.
//
// # What it must never do
//
// It decides nothing about sessions, knows no SQL, no price and no threshold, and
// writes nothing but protocol to its output. No message text goes into the log.
//
// # Invariants
//
//   - The reader never waits for a handler, a reply or a lane: it reads, cuts,
//     enqueues. So cancellations and the host's own replies always get through,
//     and a handler may call the host back.
//   - Requests of one session run one after another in the order they came;
//     sessions run beside each other. A lane's goroutine ends with its last job.
//   - What waits is bounded, in requests and in bytes; what is more is refused
//     with "busy".
//   - Every request is answered once. A panic is an answer too.
//   - Nothing the host sends closes the connection, except the end of its output.
package rpc
