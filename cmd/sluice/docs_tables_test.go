package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// columns maps columns of docs/languages.md to the word that a test of the language must contain.
var columns = map[string]string{"Node.js": "nodejs", "Python": "python", "Go": "go", "Java": "java", "YAML": "yaml"}

// TestCompatibilityTablesNameTests requires that each cell of the tables in docs/languages.md links to a test that go test runs and that
// is about the language of the column, or says why there is none.
func TestCompatibilityTablesNameTests(t *testing.T) {
	const document = "../../docs/languages.md"
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	_, tables, _ := strings.Cut(string(text), "## What is tested")
	tables, _, _ = strings.Cut(tables, "\n## ")
	var heads []string
	cells := 0
	for line := range strings.Lines(tables) {
		row, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !isRow || strings.HasPrefix(row, "---") {
			heads = slices.DeleteFunc(heads, func(string) bool { return !isRow })
			continue
		}
		row = strings.TrimSuffix(row, "|")
		parts := strings.Split(row, "|")
		if len(heads) == 0 {
			heads = parts
			continue
		}
		require.Len(t, parts, len(heads), line)
		for i, cell := range parts[1:] {
			language, known := columns[strings.TrimSpace(heads[i+1])]
			require.True(t, known, "the column %q", heads[i+1])
			links := link.FindAllStringSubmatch(cell, -1)
			if len(links) == 0 {
				require.Contains(t, []string{"not tested", "the SDK has none", "the language has none", "needs none"}, strings.TrimSpace(cell), "in the row%s", parts[0])
			}
			for _, to := range links {
				cells++
				file := filepath.Join(filepath.Dir(document), to[1])
				require.True(t, isTest(file), "%s, in the row%s, is no test", to[1], parts[0])
				content, err := os.ReadFile(file)
				require.NoError(t, err)
				about := regexp.MustCompile(`(?i)\b` + language + `\b`)
				require.True(t, about.Match(content) || strings.Contains(file, language), "%s, in the row%s, is not about %s", to[1], parts[0], language)
			}
		}
	}
	require.Greater(t, cells, 80)
}

// isTest reports whether go test runs a file: its tests, or as a script.
func isTest(file string) bool {
	folder, runs := filepath.Split(filepath.ToSlash(file))
	folder = filepath.Base(folder)
	return strings.HasSuffix(runs, "_test.go") || strings.HasSuffix(runs, ".txtar") && slices.Contains([]string{"e2e", "languages", "script", "plugins"}, folder)
}

var (
	namedTests = regexp.MustCompile("((?:`Test\\w+`(?:, )?)+) in \\[[^\\]]*\\]\\(([^)]+)\\)")
	testName   = regexp.MustCompile(`Test\w+`)
)

// TestTestsThatDocsNameExist requires that the tests that a document names are in the file of the link.
func TestTestsThatDocsNameExist(t *testing.T) {
	names := 0
	documents(t, func(path, text string) {
		for _, found := range namedTests.FindAllStringSubmatch(text, -1) {
			content, err := os.ReadFile(filepath.Join(filepath.Dir(path), found[2]))
			require.NoError(t, err)
			for _, name := range testName.FindAllString(found[1], -1) {
				names++
				require.Contains(t, string(content), "func "+name+"(", "%s names %s", path, name)
			}
		}
	})
	require.Greater(t, names, 20)
}
