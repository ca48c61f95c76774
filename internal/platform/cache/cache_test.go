package cache_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/platform/cache"
)

func TestFoldersOfTheCacheAreRemovedWhenTheyAreNotUsed(t *testing.T) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	old, err := cache.Folder("node", "old")
	require.NoError(t, err)
	used, err := cache.Folder("node", "used")
	require.NoError(t, err)
	other, err := cache.Folder("go", "old")
	require.NoError(t, err)
	long := time.Now().Add(-31 * 24 * time.Hour)
	for _, dir := range []string{old, used, other} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		require.NoError(t, os.Chtimes(dir, long, long))
	}
	again, err := cache.Folder("node", "used")
	require.NoError(t, err)
	require.Equal(t, used, again)
	require.FileExists(t, filepath.Join(used, "file"))
	require.NoDirExists(t, old)
	require.FileExists(t, filepath.Join(other, "file"), "it is of another kind")
}
