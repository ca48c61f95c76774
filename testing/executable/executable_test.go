package executable

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnExecutableIsLinkedAgainWhenItsSourcesChange(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	write("go.mod", "module example.com/thing\n\ngo 1.22\n")
	write("cmd/thing/main.go", "package main\n\nfunc main() { println(1) }\n")
	build := func() os.FileInfo {
		path := filepath.Join(t.TempDir(), "thing")
		require.NoError(t, Build(t.Context(), path, filepath.Join(root, "cmd/thing")))
		require.FileExists(t, filepath.Join(root, "bin/tests/cmd_thing"))
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info
	}
	first := build()
	require.True(t, os.SameFile(first, build()))
	write("cmd/thing/main.go", "package main\n\nfunc main() { println(2) }\n")
	require.False(t, os.SameFile(first, build()))
	write("cmd/thing/main.go", "package main\n\nfunc main() { println(2)\n")
	err := Build(t.Context(), filepath.Join(t.TempDir(), "thing"), filepath.Join(root, "cmd/thing"))
	require.ErrorContains(t, err, "main.go:4")
}

func TestAFolderWithoutAModule(t *testing.T) {
	err := Build(t.Context(), filepath.Join(t.TempDir(), "thing"), t.TempDir())
	require.ErrorContains(t, err, "is in no module")
}
