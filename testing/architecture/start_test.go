package architecture

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the smallest embedding may have. The bounds are a tenth above what it has: whoever makes it smaller lowers them.
const (
	embeddingSize  = 22 << 20  // bytes of the stripped program
	embeddingStart = 900 << 10 // bytes that all packages allocate before main
	packageStart   = 300 << 10
)

// TestTheSmallestEmbeddingIsLight counts bytes, which do not depend on the machine as times do. A package that compiles something at the start, such
// as a schema, allocates far more than the others.
func TestTheSmallestEmbeddingIsLight(t *testing.T) {
	program := filepath.Join(t.TempDir(), "embedding")
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./testdata/embedding").CombinedOutput()
	require.NoError(t, err, "%s", out)
	info, err := os.Stat(program)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(embeddingSize), "the smallest embedding has grown: `go list -deps .` lists what it links")

	run := exec.Command(program)
	run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	run.Stderr = &trace
	require.NoError(t, run.Run())
	total := 0
	for lines := bufio.NewScanner(&trace); lines.Scan(); {
		pkg, allocated, ok := initialized(lines.Text())
		if !ok {
			continue
		}
		total += allocated
		if allocated > packageStart {
			t.Errorf("package %s allocates %d bytes before main; make what it prepares on demand, or do not link it", pkg, allocated)
		}
	}
	require.Positive(t, total)
	require.Less(t, total, embeddingStart, "the packages of the smallest embedding do more before main than they did")
}

// initialized reads a line such as "init errors @0.1 ms, 0.007 ms clock, 96 bytes, 3 allocs".
func initialized(line string) (pkg string, allocated int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "init" {
		return "", 0, false
	}
	allocated, err := strconv.Atoi(fields[7])
	return fields[1], allocated, err == nil
}
