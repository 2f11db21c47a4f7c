//go:build unix && !linux

package sqlite_test

import (
	"os"
	"syscall"
	"testing"
)

// permissive takes the umask away for a test.
func permissive(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
}

// unprivileged runs f with no more rights than modes give.
func unprivileged(t *testing.T, _, _ string, f func()) {
	if os.Getuid() == 0 {
		t.Skip("modes do not bind root")
	}
	f()
}
