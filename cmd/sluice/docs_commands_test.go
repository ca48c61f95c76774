package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// peerCommand is a command of Pulumi in testdata/pulumi-commands.txt.
type peerCommand struct {
	path    string     // without the name of the program, which is "pulumi" itself
	aliases []string   // of its last word
	flags   [][]string // the names of each, the long one first, with their hyphens
}

// peerCommands reads the list of Pulumi's commands and flags.
func peerCommands(t *testing.T) []peerCommand {
	t.Helper()
	text, err := os.ReadFile("testdata/pulumi-commands.txt")
	require.NoError(t, err)
	var out []peerCommand
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		names := strings.Split(strings.TrimSpace(line), ", ")
		if strings.HasPrefix(line, " ") {
			last := &out[len(out)-1]
			last.flags = append(last.flags, names)
		} else {
			out = append(out, peerCommand{path: names[0], aliases: names[1:]})
		}
	}
	return out
}

// missing is a row of testdata/pulumi-missing.yaml: what Pulumi has and sluice lacks.
type missing struct {
	What    string   `yaml:"what"`    // the first column; {} stands for the names
	Names   []string `yaml:"names"`   // commands, which stand for the commands below them too, and flags
	Instead string   `yaml:"instead"` // the second column
	Tests   []string `yaml:"tests"`   // of the second column: "path: text"
}

// row returns the row of the table in docs/from-pulumi.md.
func (m missing) row() string {
	quoted := make([]string, len(m.Names))
	for i, name := range m.Names {
		quoted[i] = "`" + name + "`"
	}
	return fmt.Sprintf("| %s | %s |\n", strings.ReplaceAll(m.What, "{}", strings.Join(quoted, ", ")), m.Instead)
}

// missingRows reads testdata/pulumi-missing.yaml.
func missingRows(t *testing.T) []missing {
	t.Helper()
	text, err := os.ReadFile("testdata/pulumi-missing.yaml")
	require.NoError(t, err)
	var rows []missing
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	require.NoError(t, dec.Decode(&rows))
	return rows
}

// TestWhatPulumiHasIsThereOrListed compares the commands and flags of Pulumi 3.274.1 with those of sluice. What is missing has a row in
// testdata/pulumi-missing.yaml, and what has one is missing.
func TestWhatPulumiHasIsThereOrListed(t *testing.T) {
	lacking := map[string]bool{} // the names in the table, and whether they are missing
	for _, m := range missingRows(t) {
		require.Equal(t, len(m.Names) > 0, strings.Contains(m.What, "{}"), m.What)
		for _, name := range m.Names {
			require.NotContains(t, lacking, name)
			lacking[name] = false
		}
	}
	lacks := func(what string, names ...string) {
		at := slices.IndexFunc(names, func(name string) bool { _, listed := lacking[name]; return listed })
		if at < 0 {
			t.Errorf("`%s` is missing, and testdata/pulumi-missing.yaml does not give a reason", what)
			return
		}
		lacking[names[at]] = true
	}
	commands := peerCommands(t)
	require.Greater(t, len(commands), 270)
	for _, c := range commands {
		cmd := ownCommand(c.path)
		if cmd == nil {
			lacks(c.path, prefixes(c.path)...)
			continue
		}
		for _, alias := range c.aliases {
			words := strings.Fields(c.path)
			words[len(words)-1] = alias
			if path := strings.Join(words, " "); ownCommand(path) == nil {
				t.Errorf("`%s` is not another name of `%s`", path, c.path)
			}
		}
		for _, names := range c.flags {
			for _, name := range names {
				if !takes(cmd, name) {
					lacks(c.path+" "+name, c.path+" "+names[0], names[0])
				}
			}
		}
	}
	for name, missing := range lacking {
		if !missing {
			t.Errorf("testdata/pulumi-missing.yaml lists `%s`, which is there, or is not Pulumi's", name)
		}
	}
}

// TestWhatIsNotThereIsInTheDocument compares the table in docs/from-pulumi.md with testdata/pulumi-missing.yaml. With UPDATE_DOCS=1 it writes
// the table.
func TestWhatIsNotThereIsInTheDocument(t *testing.T) {
	const file = "../../docs/from-pulumi.md"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	const head = "\n## What is not there\n\n| | instead |\n|---|---|\n"
	before, rest, found := strings.Cut(string(text), head)
	require.True(t, found)
	_, after, found := strings.Cut(rest, "\n\n")
	require.True(t, found)
	var table strings.Builder
	for _, m := range missingRows(t) {
		table.WriteString(m.row())
	}
	want := before + head + table.String() + "\n" + after
	if os.Getenv("UPDATE_DOCS") != "" {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "UPDATE_DOCS=1 go test ./cmd/sluice -run TestWhatIsNotThere writes it")
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

// ownCommand returns the command of sluice that has a path, under any name, and does something; nil if there is none.
func ownCommand(path string) *cobra.Command {
	root := newRootCommand(session.NewOpener(terminal.New(terminal.Streams{})))
	root.InitDefaultCompletionCmd()
	if path == "pulumi" {
		return root
	}
	words := strings.Fields(path)
	cmd, rest, err := root.Find(words)
	if err != nil || len(rest) > 0 || len(prefixes(cmd.CommandPath())) != len(words)+1 || cmd.Annotations[hostedAnnotation] != "" {
		return nil
	}
	return cmd
}

// takes reports whether a command has a flag, which is written with its hyphens.
func takes(cmd *cobra.Command, name string) bool {
	cmd.InheritedFlags() // adds them to those of the command
	if long, is := strings.CutPrefix(name, "--"); is {
		return cmd.Flags().Lookup(long) != nil
	}
	return cmd.Flags().ShorthandLookup(name[1:]) != nil
}
