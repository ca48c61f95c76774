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

	"github.com/sluice-iac/sluice/testing/executable"
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
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./testdata/embedding").CombinedOutput()
	require.NoError(t, err, "%s", out)
	info, err := os.Stat(program)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(embeddingSize), "the smallest embedding has grown: `go list -deps .` lists what it links")

	total := 0
	for pkg, allocated := range prepared(t, program) {
		total += allocated
		if allocated > packageStart {
			t.Errorf("package %s allocates %d bytes before main; make what it prepares on demand, or do not link it", pkg, allocated)
		}
	}
	require.Less(t, total, embeddingStart, "the packages of the smallest embedding do more before main than they did")
}

// What a command may allocate before main: in total, and each package that is not listed with its reason.
const (
	commandStart        = 5_000 << 10
	packageCommandStart = 256 << 10
)

var preparesMore = map[string]string{
	"github.com/hashicorp/vault/api": "regular expressions for paths, which the key service does not use; its client reads many variables of the environment",
}

// Each command pays for what packages prepare, whether it uses them or not.
func TestACommandPreparesLittle(t *testing.T) {
	command, err := executable.Shared(t.Context(), filepath.Join(root, "cmd", "sluice"))
	require.NoError(t, err)
	total, found := 0, map[string]int{}
	for pkg, allocated := range prepared(t, command, "version") {
		total += allocated
		switch {
		case preparesMore[pkg] != "":
			found[pkg] = allocated
		case allocated > packageCommandStart:
			t.Errorf("package %s allocates %d bytes before main; make what it prepares on demand, do not link it, or say why it must be", pkg, allocated)
		}
	}
	require.Less(t, total, commandStart, "the packages of the command do more before main than they did")
	for pkg := range preparesMore {
		require.Greater(t, found[pkg], packageCommandStart, "package %s no longer does much before main: take it off the list", pkg)
	}
}

// neverLinked are modules that prepare so much that no program links them, with what they prepare.
var neverLinked = map[string]string{
	"github.com/santhosh-tekuri/jsonschema": "the schemas of five drafts of JSON Schema, a fifth of the time of a short command (decision 0276)",
	"github.com/pb33f/jsonschema":           "the same: it is a copy",
	"github.com/xeipuuv/gojsonschema":       "nothing, but its templates make the linker keep every method (decision 0113)",
	"github.com/golang/glog":                "flags of the process, and a goroutine that nobody ends",
	"go.opencensus.io":                      "a goroutine that nobody ends",
}

func TestProgramsDoNotLinkWhatPreparesMuch(t *testing.T) {
	for _, program := range []string{"./cmd/sluice", "./host"} {
		for _, d := range dependencies(t, program) {
			for family, prepares := range neverLinked {
				if d == family || strings.HasPrefix(d, family+"/") {
					t.Errorf("%s links %s, which prepares %s", program, d, prepares)
				}
			}
		}
	}
}

// prepared returns the bytes that each package of a program allocates before main: the least of several runs, because it depends on the seeds of hashes
// in which package a map grows.
func prepared(t *testing.T, command string, args ...string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for range 5 {
		run := exec.Command(command, args...)
		run.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		var trace bytes.Buffer
		run.Stderr = &trace
		require.NoError(t, run.Run())
		for lines := bufio.NewScanner(&trace); lines.Scan(); {
			if pkg, allocated, ok := initialized(lines.Text()); ok {
				if least, known := out[pkg]; !known || allocated < least {
					out[pkg] = allocated
				}
			}
		}
	}
	require.NotEmpty(t, out)
	return out
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
