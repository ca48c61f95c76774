package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/sluice-iac/sluice/testing/tier"
)

// slow runs what the first tier has skipped, in the test binaries that run has kept. The packages run beside each other, as many as there are
// processors, except without. out gets the output in the form of go test -json, and dir the costs. The status is 1 if a test fails.
func slow(ctx context.Context, events, without, kept, dir string, out io.Writer) (status int, err error) {
	file, err := os.Open(events)
	if err != nil {
		return 1, err
	}
	defer file.Close()
	patterns, err := skipped(file)
	if err != nil {
		return 1, fmt.Errorf("%s: %w", events, err)
	}
	delete(patterns, without)
	folders, err := foldersOf(ctx, slices.Sorted(maps.Keys(patterns)))
	if err != nil {
		return 1, err
	}
	if kept, err = filepath.Abs(kept); err != nil { // the tests run in other folders
		return 1, err
	}
	binaries := map[string]string{}
	for name := range patterns {
		binaries[name] = filepath.Join(kept, fileOf(folders[name]))
		if _, err := os.Stat(binaries[name]); err != nil {
			return 1, fmt.Errorf("%s has skipped tests of %s, whose binary was not kept: %w", events, name, err)
		}
	}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	failed := make([]bool, len(patterns))
	for i, name := range slices.SortedFunc(maps.Keys(patterns), longestFirst(patterns)) {
		g.Go(func() error {
			// The same arguments as those of go test, which converts the output in the same way.
			test := exec.CommandContext(ctx, "go", "tool", "test2json", "-t", "-p", name, binaries[name],
				"-test.paniconexit0", "-test.v=test2json", "-test.timeout=1h", "-test.run="+patterns[name])
			test.Cancel = func() error { return test.Process.Signal(syscall.SIGTERM) }
			test.Dir, test.Env = folders[name], append(os.Environ(), tier.Variable+"=1")
			var errs bytes.Buffer
			test.Stdout, test.Stderr = &lines{mu: &mu, to: out}, &errs
			status, err := measure(test, dir, folders[name])
			if failed[i] = status != 0; errs.Len() > 0 {
				err = errors.Join(err, errors.New(strings.TrimSpace(errs.String())))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil || slices.Contains(failed, true) {
		return 1, err
	}
	return 0, nil
}

// longestFirst orders packages by how many tests they have, so that the last one to begin is a short one.
func longestFirst(patterns map[string]string) func(a, b string) int {
	return func(a, b string) int {
		if n := len(patterns[b]) - len(patterns[a]); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	}
}

// foldersOf returns the folders of packages.
func foldersOf(ctx context.Context, packages []string) (map[string]string, error) {
	out, err := exec.CommandContext(ctx, "go", append([]string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}, packages...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages with tests of the slow tier: %w", err)
	}
	folders := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		folders[name] = folder
	}
	return folders, nil
}

// A lines writes the whole lines that it gets to a writer that it shares with others.
type lines struct {
	mu   *sync.Mutex // of the writer
	to   io.Writer
	rest []byte // the beginning of a line
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.to.Write(l.rest[:end])
	l.rest = append(l.rest[:0], l.rest[end:]...)
	return len(p), err
}

// skipped parses the output of go test -json for the first tier. It returns, for each package with something of the slow tier, the pattern of the
// tests that belong to it: those that print the mark of package tier.
func skipped(events io.Reader) (patterns map[string]string, err error) {
	tests := map[string]map[string]bool{}
	for d := json.NewDecoder(events); ; {
		var e struct{ Action, Package, Test, Output string }
		if err := d.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if e.Action == "output" && strings.Contains(e.Output, tier.Mark) {
			if tests[e.Package] == nil {
				tests[e.Package] = map[string]bool{}
			}
			tests[e.Package][e.Test] = true
		}
	}
	if len(tests) == 0 {
		return nil, errors.New("no test of the slow tier was skipped: the file must be the -json output of the first tier")
	}
	patterns = map[string]string{}
	for name, marked := range tests {
		var all []string
		for _, test := range slices.Sorted(maps.Keys(marked)) {
			if within(marked, test) {
				continue // what has it runs as a whole
			}
			var pattern []string
			for _, part := range strings.Split(test, "/") {
				pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
			}
			all = append(all, strings.Join(pattern, "/"))
		}
		patterns[name] = strings.Join(all, "|")
	}
	return patterns, nil
}

// within reports whether a set has a test that has this one as a part.
func within(tests map[string]bool, test string) bool {
	for at := strings.LastIndex(test, "/"); at >= 0; at = strings.LastIndex(test[:at], "/") {
		if tests[test[:at]] {
			return true
		}
	}
	return false
}
