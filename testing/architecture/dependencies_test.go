package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// Each module that is required directly has one line in decision 0001, and each line has a module.
func TestEveryDependencyHasItsReason(t *testing.T) {
	var required []string
	for _, folder := range []string{"", "fleet"} {
		path := filepath.Join("../..", folder, "go.mod")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := modfile.Parse(path, text, nil)
		require.NoError(t, err)
		for _, r := range file.Require {
			if !r.Indirect && r.Mod.Path != module {
				required = append(required, r.Mod.Path)
			}
		}
	}
	slices.Sort(required)

	text, err := os.ReadFile("../../docs/decisions/0001-dependencies.md")
	require.NoError(t, err)
	var explained []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		modules, _, _ := strings.Cut(line[1:], "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(modules, -1) {
			explained = append(explained, m[1])
		}
	}
	slices.Sort(explained)
	require.Equal(t, slices.Compact(required), explained)
}
