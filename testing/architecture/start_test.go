package architecture

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the smallest embedding may have. The bounds are up to a tenth above what it has: whoever makes it smaller lowers them.
const (
	embeddingSize  = 15_000_000 // bytes of the stripped program
	embeddingStart = 380 << 10  // bytes that all packages allocate before main
	packageStart   = 220 << 10
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

// compiledAtStart finds a regular expression in a variable of a package, which each process compiles before main.
var compiledAtStart = regexp.MustCompile(`(?m)^(var |\t)\w+ *= regexp\.MustCompile\(`)

// Each expression costs tens of microseconds, and a command needs few of them. The listed packages are part of the engine, whose cost the bounds above hold.
func TestExpressionsAreCompiledOnDemand(t *testing.T) {
	ofTheEngine := []string{"stages/autonaming/pattern.go", "stages/renames/likeness.go"}
	for _, p := range packages(t) {
		if folder := p.folder(); folder == "testing" || folder == "bench" || folder == "docs" || strings.HasSuffix(p.path, "test") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(p.path), "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			name := p.path + "/" + filepath.Base(file)
			if !strings.HasSuffix(file, "_test.go") && !slices.Contains(ofTheEngine, name) && compiledAtStart.Match(text) {
				t.Errorf("%s compiles a regular expression before main; put it into a sync.OnceValue", name)
			}
		}
	}
}
