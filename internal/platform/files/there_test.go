package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatMayNotBeLookedAtMayBeThere(t *testing.T) {
	dir := t.TempDir()
	file, loop := filepath.Join(dir, "file"), filepath.Join(dir, "loop")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct {
		path    string
		is, may bool
	}{
		"a file":                          {file, true, true},
		"a folder":                        {dir, true, true},
		"nothing":                         {filepath.Join(dir, "none"), false, false},
		"below a file":                    {filepath.Join(file, "x"), false, false},
		"in a folder that does not exist": {filepath.Join(dir, "none", "x"), false, false},
		"what the system refuses":         {loop, false, true}, // also to root, whom permissions do not stop
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.is, IsThere(c.path))
			require.Equal(t, c.may, MayBeThere(c.path))
		})
	}
}
