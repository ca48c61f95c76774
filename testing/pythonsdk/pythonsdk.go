// Package pythonsdk installs the Python packages that test programs need. It is for tests only.
//
// Invariant: the first test binary installs, and the others wait for it and use the result.
package pythonsdk

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Install returns the folder of a virtual environment with the packages in the requirements.txt of dir. It creates a missing
// one in the user's cache. Test binaries of several packages may call it at the same time.
func Install(dir string) (string, error) {
	wanted, err := filepath.Abs(filepath.Join(dir, "requirements.txt"))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(wanted)
	if err != nil {
		return "", err
	}
	interpreter, err := exec.Command("python3", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("tests of Python programs need python3: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	home := filepath.Join(cache, "sluice-tests", fmt.Sprintf("python-%x", sha256.Sum256(append(interpreter, text...)))[:26])
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(home + ".lock").Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	done := filepath.Join(home, "installed")
	if _, err := os.Stat(done); err == nil {
		return home, nil
	}
	if err := os.RemoveAll(home); err != nil {
		return "", err
	}
	// Debian's Python has no pip for virtual environments.
	if err := run("-m", "venv", "--without-pip", home); err != nil {
		return "", err
	}
	err = run("-m", "pip", "--python", filepath.Join(home, "bin", "python"), "install", "--quiet", "--disable-pip-version-check",
		"--only-binary", ":all:", "-r", wanted)
	if err != nil {
		return "", err
	}
	return home, os.WriteFile(done, nil, 0o600)
}

func run(args ...string) error {
	if out, err := exec.Command("python3", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("python3 %s, which the tests of Python programs need once: %w\n%s", strings.Join(args[:2], " "), err, out)
	}
	return nil
}
