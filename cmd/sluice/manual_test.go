package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// TestReferenceIsCurrent compares docs/reference with the help texts of the commands.
func TestReferenceIsCurrent(t *testing.T) {
	const reference, remedy = "../../docs/reference", "write it anew: rm -r docs/reference && go run ./cmd/sluice gen-markdown docs/reference"
	fresh := t.TempDir()
	open := session.NewOpener(terminal.New(terminal.Streams{Out: io.Discard, Err: io.Discard, Lookup: func(string) (string, bool) { return "", false }}))
	cmd := newRootCommand(open)
	cmd.SetArgs([]string{"gen-markdown", fresh})
	require.NoError(t, cmd.Execute())
	want, got := readAllFiles(t, fresh), readAllFiles(t, reference)
	for name, text := range want {
		require.Equal(t, text, got[name], "docs/reference/%s is out of date; %s", name, remedy)
	}
	for name := range got {
		require.Contains(t, want, name, "docs/reference/%s is of no command; %s", name, remedy)
	}
}

func readAllFiles(t *testing.T, directory string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	out := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(directory, e.Name()))
		require.NoError(t, err)
		out[e.Name()] = string(text)
	}
	return out
}

func TestEveryCommandAndFlagIsDescribed(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.False(t, strings.HasSuffix(cmd.Short, "."), "%s: a title has no full stop", cmd.CommandPath())
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			require.True(t, f.Hidden || f.Usage != "", "%s --%s", cmd.CommandPath(), f.Name)
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand(session.NewOpener(terminal.New(terminal.Streams{}))))
}
