package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source"
)

func TestMainNamesADirectoryOrAFile(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "app", "src"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "app", "index.ts"), nil, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "main.go"), nil, 0o644))
	elsewhere := t.TempDir()
	for name, c := range map[string]struct{ main, directory, entry string }{
		"nothing":                {"", ".", "."},
		"a directory":            {"app", "app", "."},
		"a directory in one":     {"./app/src/", "app/src", "."},
		"a file":                 {"app/index.ts", "app", "index.ts"},
		"a file's stem":          {"app/index", "app", "index"},
		"an absolute directory":  {filepath.Join(root, "app"), "app", "."},
		"a directory elsewhere":  {elsewhere, "../" + filepath.Base(elsewhere), "."},
		"a directory above":      {"..", "..", "."},
		"a file beside the root": {"main.go", ".", "main.go"},
	} {
		t.Run(name, func(t *testing.T) {
			directory, entry, err := source.Locate(root, c.main)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(root, c.directory), directory)
			require.Equal(t, c.entry, entry)
		})
	}
	for _, main := range []string{"../other", "no/such/file.ts", "app/other.ts", "app/inde", "nothing"} {
		_, _, err := source.Locate(root, main)
		require.ErrorContains(t, err, main)
	}
}

func TestOptionsAreText(t *testing.T) {
	p := source.Project{Options: map[string]any{"s": "x", "b": false, "n": 3, "l": []any{1}}}
	require.Equal(t, []string{"x", "false", "3", "", ""}, []string{p.Option("s"), p.Option("b"), p.Option("n"), p.Option("l"), p.Option("none")})
}

func TestAnExitSaysWhatToDo(t *testing.T) {
	err := &source.ProgramExitError{Program: "program x (go)", Status: "signal: killed", Code: -1, Output: "out", Hint: "do this"}
	require.EqualError(t, err, "program x (go) ended with signal: killed before it was finished\ndo this")
	err.Code = 2
	require.EqualError(t, err, "program x (go) was not finished. Program exited with non-zero exit code: 2\ndo this")
}
