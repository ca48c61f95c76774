// Package executable builds the programs that tests start. It is for tests only.
//
// Invariant: the tests of all packages share an executable. The first test binary links it, the others wait, and it is linked again only when
// its sources have changed.
package executable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// undebugged leaves out the information for debuggers, which takes a third of the time of linking. unversioned leaves out the commit of the checkout,
// which is not one of the sources.
const undebugged, unversioned = "-ldflags=-w", "-buildvcs=false"

// Build builds the package in the folder dir as the executable path. The folder of path must exist.
func Build(ctx context.Context, path, dir string) error {
	shared, err := Shared(ctx, dir)
	if err != nil {
		return err
	}
	return Link(shared, path)
}

// BuildTests makes path the test binary of the package in the folder dir. The folder of path must exist. A test binary runs one of its commands
// (testscript.Main) in place of tests if the last element of path is the name of that command.
func BuildTests(ctx context.Context, path, dir string) error {
	shared, err := linked(ctx, dir, ".test", "test", "-c", "-vet=off")
	if err != nil {
		return err
	}
	return Link(shared, path)
}

// Link makes path a hard link to a shared executable, or a copy of it on another file system.
func Link(shared, path string) error {
	if os.Link(shared, path) == nil {
		return nil
	}
	data, err := os.ReadFile(shared)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o755)
}

// Shared returns the path of the executable of the package in the folder dir, which is below bin of the module. Several processes may call it at
// the same time. All of them share the file, so they must not change it.
func Shared(ctx context.Context, dir string) (path string, err error) {
	return linked(ctx, dir, "", "build")
}

// linked links an executable of the package in the folder dir with a command of go, unless it is up to date, and returns its path: the name of the
// package with a suffix.
func linked(ctx context.Context, dir, suffix string, command ...string) (path string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root, err := moduleOf(dir)
	if err != nil {
		return "", err
	}
	name, err := filepath.Rel(root, dir)
	if err != nil {
		return "", err
	}
	path = filepath.Join(root, "bin", "tests", strings.ReplaceAll(name, string(filepath.Separator), "_")+suffix)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(path + ".lock").Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	link := exec.CommandContext(ctx, "go", append(command, undebugged, unversioned, "-o", path, ".")...) // does nothing if path is up to date
	link.Dir = dir
	if out, err := link.CombinedOutput(); err != nil {
		return "", fmt.Errorf("link %s: %w\n%s", dir, err, out)
	}
	return path, nil
}

// moduleOf returns the folder of the module that contains dir.
func moduleOf(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is in no module", dir)
		}
	}
}
