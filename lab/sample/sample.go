// Package sample owns the built-in sample session: what `ctxplugin replay` plays
// when it is given no file.
//
// The session is invented. It shows what real sessions do to a context manager:
// prohibitions and corrections, an approach that a version conflict kills, failed
// builds, a suspicion that stays one, huge and repeated outputs, idle hours,
// a request in Chinese, a push that is refused, and work that ends half done.
//
// sample.json is written by `go generate` from session.story and project.txtar
// and is never edited by hand; a test compares them.
package sample

import _ "embed" // for the session

//go:generate go run ./generate -script session.story -project project.txtar -out sample.json

//go:embed sample.json
var session []byte

// Name is how the sample is named where a file's name would stand.
const Name = "sample"

// Session returns the sample in the shape of `opencode export`, as a copy.
func Session() []byte { return append([]byte(nil), session...) }
