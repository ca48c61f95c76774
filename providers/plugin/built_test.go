package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnExecutableTellsTheVersionThatItWasBuiltAs(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.com/thing\n\ngo 1.22\n",
		"main.go": "package main\n\nvar Version string\n\nfunc main() { println(Version) }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	script := filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755))
	for name, c := range map[string]struct{ flags, want string }{
		"set":    {"-s -w -X main.Version=v1.20.3-alpha.1", "1.20.3-alpha.1"},
		"not":    {"-s", ""},
		"others": {"-X main.Other=1.0.0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags", c.flags, "-o", file, ".")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Equal(t, c.want, builtVersion(file))
		})
	}
	process, err := Start(Command{Name: "thing", Executable: filepath.Join(dir, "set")})
	require.NoError(t, err)
	_, err = process.Port(t.Context())
	require.ErrorContains(t, err, "plugin thing 1.20.3-alpha.1 [")
	process.Stop()
	require.Empty(t, builtVersion(script))
	require.Empty(t, builtVersion(filepath.Join(dir, "missing")))
}
