package provider_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The code in docs/providers.md, and the first Go code of the README, is in this example, which the tests run.
func TestThePagesShowWhatTheTestsRun(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	code := read("notes.go") + read("notes_test.go")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```")
	page := blocks.FindAllStringSubmatch(read("../../docs/providers.md"), -1)
	require.Greater(t, len(page), 7)
	for _, b := range page {
		require.Contains(t, code, b[1], "the example does not have this block of docs/providers.md")
	}
	first := blocks.FindStringSubmatch(read("../../README.md"))
	require.NotNil(t, first)
	require.Contains(t, unindented(code), unindented(first[1]))
}

// unindented returns the lines of a text without their indentation.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
