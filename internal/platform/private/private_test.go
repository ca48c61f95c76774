//go:build linux

package private

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Mode()
}

func TestFoldersKeepTheGroupOfTheFolderThatTheyAreIn(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o770|fs.ModeSetgid))
	path := filepath.Join(dir, "a", "b")
	require.NoError(t, MkdirAll(path, 0o777)) // which no usual umask allows
	require.Equal(t, fs.ModeDir|fs.ModeSetgid|0o777, modeOf(t, path))
	require.NoError(t, MkdirAll(path, Folder))
	require.Equal(t, fs.ModeDir|fs.ModeSetgid|0o777, modeOf(t, path), "it has been there")
	require.ErrorIs(t, Mkdir(path, Folder), fs.ErrExist)
}

func TestWhatIsNotThereIsRemovedWithoutAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, Write(path, []byte("x")))
	require.NoError(t, Remove(path))
	require.NoFileExists(t, path)
	require.NoError(t, Remove(path))
	require.NoError(t, Write(path, []byte("x")))
	require.Error(t, Remove(dir), "it is not empty")
}

func TestAFileIsPrivateBeforeItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	require.NoError(t, os.WriteFile(path, []byte("old and long"), 0o600))
	require.NoError(t, os.Chmod(path, 0o666))
	f, err := Truncate(path)
	require.NoError(t, err)
	require.Equal(t, File, modeOf(t, path))
	require.NoError(t, f.Close())
	require.NoError(t, Write(path, []byte("new")))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	_, err = Create(path, File)
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, Write("/dev/null", []byte("x")))
	require.Equal(t, fs.FileMode(0o666), modeOf(t, "/dev/null").Perm())
}
