// Package nodesdk installs the Node.js packages that test programs need. It is for tests only.
//
// Invariant: the first test binary installs, and the others wait for it and use the result.
package nodesdk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Install makes the folder node_modules of dir match its package-lock.json, with npm, unless it does already. Test
// binaries of several packages may call it at the same time.
func Install(dir string) error {
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, ".install.lock")).Lock()
	if err != nil {
		return err
	}
	defer unlock()
	lock, err := os.Stat(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return err
	}
	done, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json"))
	if err == nil && !done.ModTime().Before(lock.ModTime()) {
		return nil
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci in %s, which the tests of Node.js programs need once: %w\n%s", dir, err, out)
	}
	return nil
}
