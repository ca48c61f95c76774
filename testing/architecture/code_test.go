package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// files calls f with every file of the project, by its path relative to the root.
func files(t *testing.T, f func(file string)) {
	t.Helper()
	count := 0
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "bin", "out"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			f(filepath.ToSlash(rel))
			count++
		}
		return nil
	}))
	require.Greater(t, count, 100)
}

// code calls f with every node of every Go file, except tests and their data.
func code(t *testing.T, f func(file string, line int, n ast.Node)) {
	t.Helper()
	files(t, func(file string) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			return
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if n != nil {
				f(file, set.Position(n.Pos()).Line, n)
			}
			return true
		})
	})
}

func TestOnlyPipelineKnowsChannels(t *testing.T) {
	signals := []string{"cmd/sluice/internal/interrupts/guard.go", "internal/platform/process/group_unix.go"} // signals come over channels
	code(t, func(file string, line int, n ast.Node) {
		if _, is := n.(*ast.ChanType); is && !strings.HasPrefix(file, "pipeline/") && !slices.Contains(signals, file) {
			t.Errorf("%s:%d: a channel outside package pipeline: use what package await offers for waiting", file, line)
		}
	})
}

func TestEveryGoroutineHasAnOwnerThatWaits(t *testing.T) {
	code(t, func(file string, line int, n ast.Node) {
		if _, is := n.(*ast.GoStmt); is {
			t.Errorf("%s:%d: a go statement: start it through conc, which waits for it and catches its panics", file, line)
		}
	})
}

// Package loopback opens every socket at which the engine can be called, and checks the callers.
func TestOnlyLoopbackListens(t *testing.T) {
	// Plugins for tests and the floor of the benchmark, which are programs of their own, code that looks for a port for another
	// program, and servers and proxies of tests.
	others := []string{"providers/internal/pulumi-resource-simple/", "testing/fakeplugins/", "bench/floor/", "testing/emulatortest/", "testing/cuttest/", "testing/servicetest/", "source/internal/direct/debug.go"}
	code(t, func(file string, line int, n ast.Node) {
		call, is := n.(*ast.SelectorExpr)
		if !is || !strings.HasPrefix(call.Sel.Name, "Listen") || strings.HasPrefix(file, "source/internal/loopback/") {
			return
		}
		if !slices.ContainsFunc(others, func(folder string) bool { return strings.HasPrefix(file, folder) }) {
			t.Errorf("%s:%d: %s: only package loopback listens", file, line, call.Sel.Name)
		}
	})
}

func TestNothingIsLeftUnfinished(t *testing.T) {
	marks := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b`)
	files(t, func(file string) {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		if at := marks.FindIndex(text); at != nil {
			t.Errorf("%s:%d: %s", file, 1+strings.Count(string(text[:at[0]]), "\n"), text[at[0]:at[1]])
		}
	})
}
