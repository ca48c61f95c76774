package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Documents name files and folders from the top of the repository, or from the folder that the text is about.
func TestPathsInDocumentsLeadSomewhere(t *testing.T) {
	var all, documents, tops []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != root && d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "bin" || d.Name() == "out"):
			return fs.SkipDir
		case strings.HasSuffix(path, ".md"):
			documents = append(documents, path)
		case d.IsDir() && filepath.Dir(path) == root:
			tops = append(tops, regexp.QuoteMeta(d.Name()))
		}
		all = append(all, filepath.ToSlash(path))
		return nil
	}))
	exists := func(named string) bool {
		for _, path := range all {
			if strings.HasSuffix(path, "/"+named) {
				return true
			}
		}
		return false
	}
	named := regexp.MustCompile("`((?:" + strings.Join(tops, "|") + `)/[\w/-]+(?:\.go)?)` + "`")
	count := 0
	for _, document := range documents {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		for _, match := range named.FindAllStringSubmatch(string(text), -1) {
			count++
			if path := match[1]; path != "testing/synctest" && !exists(path) { // which is Go's
				t.Errorf("%s names %s, which does not exist", document, path)
			}
		}
	}
	require.Greater(t, count, 200)
}
