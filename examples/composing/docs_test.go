package composing_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The code in docs/composing.md is in an example, which the tests run.
func TestThePageShowsWhatTheTestsRun(t *testing.T) {
	page, err := os.ReadFile("../../docs/composing.md")
	require.NoError(t, err)
	var code strings.Builder
	require.NoError(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		code.Write(text)
		return err
	}))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(blocks), 5)
	for _, b := range blocks {
		require.Contains(t, code.String(), b[1], "no example has this block of docs/composing.md")
	}
}
