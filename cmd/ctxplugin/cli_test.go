package main

import (
	"slices"
	"testing"
)

// The words that are known without the command line mean what it says of them:
// serving, with nothing set.
func TestRun_HostArgsAreServe(t *testing.T) {
	var c commands
	parser, err := c.parser()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(slices.Clone(hostArgs))
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Command() != "serve" || c.Serve != (serveCommand{}) || c.Config != "" {
		t.Errorf("%q is %q with %+v and --config %q", hostArgs, parsed.Command(), c.Serve, c.Config)
	}
}
