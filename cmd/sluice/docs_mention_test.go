package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// documents calls f with every document for people, except the reference and the decisions, which describe the past.
func documents(t *testing.T, f func(path, text string)) {
	t.Helper()
	count := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "node_modules", "out", "bin", "testdata", "reference", "decisions"}, d.Name()) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".md" || d.Name() == "CHANGELOG.md" {
			return nil
		}
		text, err := os.ReadFile(path)
		f(path, string(text))
		count++
		return err
	}))
	require.Greater(t, count, 12)
}

var (
	inBlock  = regexp.MustCompile(`(?m)^ *(?:\$ |    )(?:[A-Z_]+=\S+ )*sluice +([^#\n]*)`)
	inText   = regexp.MustCompile("`sluice +([^`]*)`")
	word     = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)
	anyFlag  = regexp.MustCompile(`^--?[A-Za-z][-a-z]*`)
	metaText = regexp.MustCompile(`[|;>&]`)
)

// TestCommandsInDocsExist checks every command line in a document as far as that is possible without running it.
func TestCommandsInDocsExist(t *testing.T) {
	t.Parallel()
	checked := 0
	documents(t, func(path, text string) {
		for _, found := range append(inBlock.FindAllStringSubmatch(text, -1), inText.FindAllStringSubmatch(text, -1)...) {
			line := metaText.Split(strings.ReplaceAll(found[1], "\\\n", " "), 2)[0]
			if problem := problemOf(word.FindAllString(line, -1)); problem != "" {
				t.Errorf("%s: `sluice %s`: %s", path, strings.TrimSpace(found[1]), problem)
			}
			checked++
		}
	})
	require.Greater(t, checked, 100)
}

func problemOf(words []string) string {
	root := newRootCommand(session.NewOpener(terminal.New(terminal.Streams{})))
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !slices.Contains(cmd.ValidArgs, rest[0]) {
		return "no such command: " + rest[0]
	}
	if cmd.DisableFlagParsing {
		return "" // the flags belong to another program, which has a test of its own
	}
	for _, w := range rest {
		name := anyFlag.FindString(w)
		switch {
		case name == "": // an argument, or the value of a flag
		case strings.HasPrefix(name, "--"):
			if !hasFlag(cmd, name[2:]) {
				return "no such flag: " + name
			}
		case cmd.Flags().ShorthandLookup(name[1:2]) == nil && cmd.InheritedFlags().ShorthandLookup(name[1:2]) == nil && name != "-h":
			return "no such flag: " + name
		}
	}
	return ""
}

func hasFlag(cmd *cobra.Command, name string) bool {
	return name == "help" || cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil
}

var link = regexp.MustCompile(`\]\(([^)#: ]+)(?:#[^)]*)?\)`)

func TestLinksInDocsLeadSomewhere(t *testing.T) {
	documents(t, func(path, text string) {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), found[1])); err != nil {
				t.Errorf("%s: a link to %s, which is not there", path, found[1])
			}
		}
	})
}
