package executable

import (
	"os"
	"os/exec"
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

func TestATestBinaryIsACommand(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/thing\n\ngo 1.22\n",
		"thing_test.go": "package thing\n\nimport (\n\t\"os\"\n\t\"path/filepath\"\n\t\"testing\"\n)\n\n" +
			"func TestMain(m *testing.M) {\n\tif filepath.Base(os.Args[0]) == \"greet\" {\n\t\t_, _ = os.Stdout.WriteString(\"hello\")\n\t\treturn\n\t}\n\tos.Exit(m.Run())\n}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	path := filepath.Join(t.TempDir(), "greet")
	require.NoError(t, BuildTests(t.Context(), path, root))
	out, err := exec.Command(path).Output()
	require.NoError(t, err)
	require.Equal(t, "hello", string(out))

	require.NoError(t, os.WriteFile(filepath.Join(root, "thing_test.go"), []byte("package thing\n\nfunc {\n"), 0o644))
	require.ErrorContains(t, BuildTests(t.Context(), path, root), "thing_test.go:3")
}
