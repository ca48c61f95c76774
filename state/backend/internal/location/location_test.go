package location

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestURLsOfDirectories(t *testing.T) {
	for text, want := range map[string]string{
		"file://~": "/home/me", "file://~/x": "/home/me/x", "file:///abs/": "/abs", "file://rel": "/src/rel", "file://./rel": "/src/rel",
		"file:///a%20b": "/a b", "file:///abs?metadata=skip&no_tmp_dir=true": "/abs",
		"file://": "!no path", "file://~you": "!other users", "file:///abs?color=red": `!unknown parameter "color"`,
	} {
		l, err := parse(text, "/home/me", "/src")
		if problem, bad := strings.CutPrefix(want, "!"); bad {
			require.ErrorContains(t, err, problem, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, filepath.ToSlash(l.dir), text)
	}
}
