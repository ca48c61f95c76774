// Package scratch puts the temporary files of tests into memory. It is for tests only.
//
// It is for packages whose tests write small files all the time and wait for each until it is on the disk, which takes most of their time. What they
// prove about a process that is killed, they prove of files in memory, too. It is not for tests that run programs from a temporary folder, or that need
// much room.
//
// Invariant: the tests of the slow tier have their files on the disk, and so have all tests where there is no file system in memory.
package scratch

import (
	"os"
	"runtime"
	"testing"

	"github.com/sluice-iac/sluice/testing/tier"
)

// memory is the file system that Linux keeps in memory for all users.
const memory = "/dev/shm"

// Run runs the tests of a package, and returns the exit status. Their temporary files are in memory unless $TMPDIR names a folder or the slow tier runs,
// whose databases need room and belong to another user.
func Run(m *testing.M) (status int) {
	if _, named := os.LookupEnv("TMPDIR"); named || runtime.GOOS != "linux" || tier.IsSlow() {
		return m.Run()
	}
	folder, err := os.MkdirTemp(memory, "sluice-test-")
	if err != nil {
		return m.Run()
	}
	defer func() { _ = os.RemoveAll(folder) }() // the system forgets it with the next start
	if err := os.Setenv("TMPDIR", folder); err != nil {
		return m.Run()
	}
	return m.Run()
}
