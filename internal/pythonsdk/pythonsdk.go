// Package pythonsdk installs the Python packages that test programs need. It is for tests only.
//
// Invariant: whichever test binary comes first installs, the others wait for it and use what it installed.
package pythonsdk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Install makes the virtual environment "venv" in dir match its requirements.txt, unless it does already, and returns its folder.
// Test binaries of several packages may call it at the same time.
func Install(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, ".install.lock")).Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	wanted, err := os.ReadFile(filepath.Join(dir, "requirements.txt"))
	if err != nil {
		return "", err
	}
	venv := filepath.Join(dir, "venv")
	done := filepath.Join(venv, "requirements.txt")
	if has, err := os.ReadFile(done); err == nil && string(has) == string(wanted) {
		return venv, nil
	}
	if err := os.RemoveAll(venv); err != nil {
		return "", err
	}
	// Debian's Python has no pip to put into virtual environments.
	return venv, errors.Join(
		run(dir, "-m", "venv", "--without-pip", "venv"),
		run(dir, "-m", "pip", "--python", filepath.Join(venv, "bin", "python"), "install", "--quiet", "--disable-pip-version-check",
			"--only-binary", ":all:", "-r", "requirements.txt"),
		os.WriteFile(done, wanted, 0o600),
	)
}

func run(dir string, args ...string) error {
	cmd := exec.Command("python3", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("python3 %s in %s, which the tests of Python programs need once: %w\n%s", args[1], dir, err, out)
	}
	return nil
}
