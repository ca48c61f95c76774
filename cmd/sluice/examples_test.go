package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// TestExamples runs the scripts in testdata/examples. Each script runs its own copy of an example. An example with
// Node.js packages uses those of the test programs, which have the same versions.
func TestExamples(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs("../../source/nodejs/testdata/program")
	require.NoError(t, err)
	if tier.IsSlow() {
		require.NoError(t, nodesdk.Install(modules))
	}
	p := scripts("testdata/examples")
	p.Condition = func(name string) (bool, error) {
		if name != "slow" {
			return false, fmt.Errorf("unknown condition %q", name)
		}
		return tier.IsSlow(), nil
	}
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("NODE_MODULES", filepath.Join(modules, "node_modules"))
		for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // because the scripts have another HOME
			e.Setenv(name, goEnv(t, name))
		}
		if err := copyFiles("../../examples", filepath.Join(e.WorkDir, "examples")); err != nil {
			return err
		}
		return setup(e)
	}
	testscript.Run(t, p)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// copyFiles copies a folder without its installed packages.
func copyFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "node_modules" {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
}
