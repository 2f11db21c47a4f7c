package rpc

import "testing"

// Text of the host's never reaches the log as the name of a method.
func TestLogged(t *testing.T) {
	for name, want := range map[string]string{"session/sync": "session/sync", "my secret": "unknown", "": "unknown"} {
		if got := logged(name); got != want {
			t.Errorf("%q is logged as %q, want %q", name, got, want)
		}
	}
	if got := errorName(badInput("%s is wrong", "my secret")); got != "badInput" {
		t.Errorf("the error is logged as %q", got)
	}
}
