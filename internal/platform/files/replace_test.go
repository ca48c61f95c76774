package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requireAlone fails if there is anything in a folder besides the given names.
func requireAlone(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.Equal(t, names, got)
}

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	require.NoError(t, Replace(path, 0o600, Content([]byte("old"))))
	broken := errors.New("broken")
	err := Replace(path, 0o600, func(f *os.File) error {
		_, _ = f.WriteString("half")
		return broken
	})
	require.ErrorIs(t, err, broken)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(text))
	requireAlone(t, folder, "file")
	require.NoError(t, Replace(path, 0o600, Content([]byte("new"))))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	requireAlone(t, folder, "file")
}

func TestTheLongestNameCanBeReplaced(t *testing.T) {
	folder, name := t.TempDir(), strings.Repeat("x", 255)
	if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
		t.Skip(err)
	}
	require.NoError(t, Replace(filepath.Join(folder, name), 0o600, Content([]byte("new"))))
	requireAlone(t, folder, name)
}

func TestSeveralMayReplaceAFileAtTheSameTime(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	var all conc.WaitGroup
	for i := range 8 {
		all.Go(func() {
			assert.NoError(t, Replace(path, 0o600, Content([]byte(strings.Repeat(fmt.Sprint(i), 1<<16)))))
		})
	}
	all.Wait()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(string(text[:1]), 1<<16), string(text))
	requireAlone(t, folder, "file")
}

func TestTheFileBehindALinkIsReplaced(t *testing.T) {
	for name, prepare := range map[string]func(real string) error{
		"a file":            func(real string) error { return os.WriteFile(real, nil, 0o600) },
		"one not there yet": func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			real, link, second := filepath.Join(folder, "elsewhere", "real"), filepath.Join(folder, "link"), filepath.Join(folder, "second")
			require.NoError(t, os.Mkdir(filepath.Dir(real), 0o700))
			require.NoError(t, prepare(real))
			if err := errors.Join(os.Symlink(filepath.Join("elsewhere", "real"), link), os.Symlink(link, second)); err != nil {
				t.Skip(err)
			}
			require.NoError(t, ReplacePrivate(second, Content([]byte("new"))))
			text, err := os.ReadFile(real)
			require.NoError(t, err)
			require.Equal(t, "new", string(text))
			requireAlone(t, folder, "elsewhere", "link", "second")
			requireAlone(t, filepath.Dir(real), "real")
			info, err := os.Lstat(link)
			require.NoError(t, err)
			require.NotZero(t, info.Mode()&fs.ModeSymlink)
		})
	}
}

func TestPermissionsOfAReplacedFile(t *testing.T) {
	owner := func(path string, _ fs.FileMode, fill func(*os.File) error) error { return ReplacePrivate(path, fill) }
	for name, c := range map[string]struct {
		former, mode, want fs.FileMode
		replace            func(string, fs.FileMode, func(*os.File) error) error
	}{
		"a new one":               {0, 0o600, 0o600, Replace},
		"it keeps its own":        {0o640, 0o600, 0o640, Replace},
		"it keeps what is less":   {0o600, 0o644, 0o600, Replace},
		"a new one for its owner": {0, 0, 0o600, owner},
		"it becomes its owner's":  {0o644, 0, 0o600, owner},
		"one that is only read":   {0o400, 0o644, 0o400, Replace},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if c.former != 0 {
				require.NoError(t, os.WriteFile(path, nil, 0o600))
				require.NoError(t, os.Chmod(path, c.former))
			}
			require.NoError(t, c.replace(path, c.mode, Content([]byte("new"))))
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, c.want, info.Mode().Perm())
		})
	}
}

func TestWhatIsNoFileIsNotReplaced(t *testing.T) {
	folder := t.TempDir()
	loop := filepath.Join(folder, "loop")
	require.NoError(t, os.Symlink(loop, loop))
	for name, c := range map[string]struct {
		path, want string
		uncreated  bool
	}{
		"a folder":                      {folder, "is not a file", false},
		"in a folder that is not there": {filepath.Join(folder, "none", "x"), filepath.Join(folder, "none", "x"), true},
		"a circle":                      {loop, "leads to no file", true},
	} {
		t.Run(name, func(t *testing.T) {
			err := Replace(c.path, 0o600, Content(nil))
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), ".tmp")
			require.Equal(t, c.uncreated, errors.As(err, new(*UncreatedError)))
		})
	}
	requireAlone(t, folder, "loop")
}

func TestWhatKilledProcessesHaveLeftIsRemoved(t *testing.T) {
	old := time.Now().Add(-2 * time.Hour)
	for name, c := range map[string]struct {
		file  string
		when  time.Time
		stays bool
	}{
		"an old one":              {".writing-1.tmp", old, false},
		"one that may be written": {".writing-1.tmp", time.Now(), true},
		"another file":            {"writing-1.tmp", old, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			left := filepath.Join(dir, c.file)
			require.NoError(t, os.WriteFile(left, nil, 0o600))
			require.NoError(t, os.Chtimes(left, c.when, c.when))
			require.NoError(t, Replace(filepath.Join(dir, "new"), 0o600, Content([]byte("1"))))
			if c.stays {
				require.FileExists(t, left)
			} else {
				require.NoFileExists(t, left)
			}
		})
	}
}
