// Package ballast keeps the garbage collector from running too often while the heap is small. A command has a small heap most of the time, and the
// collector took a quarter of its time. The collector waits until the heap has doubled, and counts these bytes. They take no memory because they are
// never touched. A command therefore uses at most about this much more memory than without ballast. A larger GOGC would not guarantee that for large
// stacks. There is no ballast if GOGC or GOMEMLIMIT is set.
//
// Go initializes packages in the order of their paths, imported ones first. This package imports only the standard library, so it comes before nearly
// all packages that allocate much: those are below golang.org and google.golang.org, or import one that is. Without ballast, the collector took a
// third of the start time of a process.
//
// Invariant: the ballast is there before the packages of Protocol Buffers are initialized.
package ballast

import (
	"os"
	"runtime"
)

// size is the number of bytes by which the heap seems larger than it is.
const size = 64 << 20

var memory = allocate(os.Getenv)

func allocate(getenv func(string) string) []byte {
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		if getenv(name) != "" {
			return nil
		}
	}
	return make([]byte, size)
}

// Keep keeps the ballast until it is called.
func Keep() { runtime.KeepAlive(memory) }
