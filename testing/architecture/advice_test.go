package architecture

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// clients are the folders of programs that use the library. They may name commands and flags: their own, or those of
// tools that they run.
var clients = []string{"cmd", "examples", "bench", "fleet"}

// fixedTexts are parts of the library's texts that name a command or a flag, with the reason for each.
var fixedTexts = map[string]string{
	"delete the %s with `sluice cancel`":                      "scripts know the line (state.md 4.6)",
	"not specified in --target list":                          "diagnostics 2013 and 2014 (steps.md appendix B)",
	"in --target list or pass --target-dependents to proceed": "diagnostic 2014 (steps.md appendix B)",
	"mixed with --target. Change your program":                "steps.md 6.5",
	"--max-old-space-size=8192":                               "a flag of node, for the project file",
}

var (
	flagInText = regexp.MustCompile("(^|[\\s`'\"(/])--[a-z][a-z-]{2,}")
	argument   = regexp.MustCompile(`^--?[a-zA-Z_-]+(=\S*)?$`) // of another process
)

// commandInText matches sluice's commands, from the reference, with any following text.
func commandInText(t *testing.T) *regexp.Regexp {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "docs/reference/sluice_*.md"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 20)
	var names []string
	for _, page := range pages {
		name, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(page), "sluice_"), ".md"), "_")
		names = append(names, regexp.QuoteMeta(name))
	}
	slices.Sort(names)
	return regexp.MustCompile("`sluice\\b|\\bsluice (" + strings.Join(slices.Compact(names), "|") + ")\\b")
}

// The program that uses the library decides which command or flag to suggest. Errors and diagnostics contain advice as
// data of package advice, and the command line has the words (decision 0024).
func TestTheLibraryNamesNoCommandsAndFlags(t *testing.T) {
	command := commandInText(t)
	used := map[string]bool{}
	code(t, func(file string, line int, n ast.Node) {
		literal, is := n.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING || (slices.Contains(clients, folderOf(file)) || strings.HasPrefix(file, "docs/")) {
			return
		}
		text, err := strconv.Unquote(literal.Value)
		require.NoError(t, err)
		if argument.MatchString(text) {
			return
		}
		rest := text
		for fixed := range fixedTexts {
			if strings.Contains(rest, fixed) {
				used[fixed] = true
				rest = strings.ReplaceAll(rest, fixed, "")
			}
		}
		if found := command.FindString(rest) + flagInText.FindString(rest); found != "" {
			t.Errorf("%s:%d: a text of the library names %q: give it as advice, and have the words in cmd/sluice/internal/advise", file, line, found)
		}
	})
	for fixed, why := range fixedTexts {
		if !used[fixed] {
			t.Errorf("no text has %q (%s) any more: take it out of the list", fixed, why)
		}
	}
}

// An error type that callers distinguish has a unique name.
func TestErrorTypesHaveNamesOfTheirOwn(t *testing.T) {
	where := map[string]string{}
	code(t, func(file string, line int, n ast.Node) {
		spec, is := n.(*ast.TypeSpec)
		if !is || !spec.Name.IsExported() || !strings.HasSuffix(spec.Name.Name, "Error") || (slices.Contains(clients, folderOf(file)) || strings.HasPrefix(file, "docs/")) {
			return
		}
		if before := where[spec.Name.Name]; before != "" {
			t.Errorf("%s:%d: %s is also the name of an error in %s", file, line, spec.Name.Name, before)
		}
		where[spec.Name.Name] = file
	})
	require.Greater(t, len(where), 20)
}
