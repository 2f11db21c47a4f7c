// Command ctxplugin keeps the history of coding agents readable and affordable: a
// host starts `ctxplugin serve` and speaks JSON-RPC with it over stdin and stdout.
//
// The package owns flags, configuration, wiring and exit codes. It decides
// nothing that a session decides, and is the one place that knows all others.
//
// # Invariants
//
//   - While it serves, stdout carries protocol only; what there is to say goes to
//     the log and, through the host, to the user.
//   - Settings come from the user's own file and flags, never from a project.
//   - A user's file is never written, and a broken one never stops the program.
//   - Nothing heavy (database, token ranks) is touched before it is needed.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
