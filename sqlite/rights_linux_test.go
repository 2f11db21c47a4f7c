package sqlite_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// permissive takes the umask away for a test.
func permissive(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
}

// unprivileged runs f with no more rights than modes give: for root, whom modes
// do not bind, as another user to whom folder and file are given.
func unprivileged(t *testing.T, folder, file string, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	if err := os.Chown(folder, nobody, nobody); err != nil {
		t.Skip(err)
	}
	_ = os.Chown(file, nobody, nobody) // it may not be there
	runtime.LockOSThread()             // the identity is the thread's
	defer runtime.UnlockOSThread()
	if err := syscall.Setfsuid(nobody); err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := syscall.Setfsuid(0); err != nil {
			panic(err)
		}
	}()
	f()
}
