package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// TestMissingCommandsOfPulumiAreListed compares the commands of Pulumi 3.260.0, which `--help` lists, with those of sluice. The section of
// docs/from-pulumi.md about missing things names every command that is missing, or the group that it belongs to, and no other.
func TestMissingCommandsOfPulumiAreListed(t *testing.T) {
	list, err := os.ReadFile("testdata/pulumi-commands.txt")
	require.NoError(t, err)
	commands := strings.Split(strings.TrimSpace(string(list)), "\n")
	require.Greater(t, len(commands), 200)
	text, err := os.ReadFile("../../docs/from-pulumi.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## What is not there\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	named := map[string]bool{}
	for row := range strings.Lines(section) {
		if first, _, is := strings.Cut(strings.TrimPrefix(row, "| "), " | "); is { // the other column says what to use instead
			for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
				named[code[1]] = true
			}
		}
	}
	for _, path := range commands {
		covered := slices.ContainsFunc(prefixes(path), func(p string) bool { return named[p] })
		switch is := isCommand(path); {
		case !is && !covered:
			t.Errorf("`%s` is missing, and docs/from-pulumi.md does not list it", path)
		case is && named[path]:
			t.Errorf("docs/from-pulumi.md lists `%s` as missing, and it is there", path)
		}
	}
}

// prefixes returns the path of a command and those of the groups that it belongs to: "a b", "a".
func prefixes(path string) []string {
	out := []string{path}
	for i := strings.LastIndexByte(path, ' '); i > 0; i = strings.LastIndexByte(path, ' ') {
		path = path[:i]
		out = append(out, path)
	}
	return out
}

// isCommand reports whether sluice has a command, under any name, that does something.
func isCommand(path string) bool {
	root := newRootCommand(session.NewOpener(terminal.New(terminal.Streams{})))
	words := strings.Fields(path)
	cmd, rest, err := root.Find(words)
	return err == nil && len(rest) == 0 && len(prefixes(cmd.CommandPath())) == len(words)+1 && cmd.Annotations[hostedAnnotation] == ""
}
