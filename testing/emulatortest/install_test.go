package emulatortest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

// shell is a program whose installation is a command of the shell.
func shell(command string, runs *atomic.Int32) program {
	return program{"tool-1", "bin/tool", func(ctx context.Context, dir string) *exec.Cmd {
		runs.Add(1)
		cmd := exec.CommandContext(ctx, "sh", "-ec", command)
		cmd.Dir = dir
		return cmd
	}}
}

const works = "mkdir bin; sleep 0.1; echo whole > bin/tool"

func requireWhole(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "whole\n", string(text))
}

func TestAnInstallationIsMadeOnce(t *testing.T) {
	root := filepath.Join(t.TempDir(), "none yet")
	var runs atomic.Int32
	var wg conc.WaitGroup
	for range 8 {
		wg.Go(func() {
			file, err := shell(works, &runs).installIn(root)
			require.NoError(t, err)
			requireWhole(t, file)
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, runs.Load())
}

func TestAnInstallationThatFailedIsRepeated(t *testing.T) {
	root := t.TempDir()
	var runs atomic.Int32
	_, err := shell("mkdir bin; echo half > bin/tool; echo no network >&2; exit 3", &runs).installIn(root)
	require.ErrorContains(t, err, "tool-1 cannot be installed: exit status 3\nno network")
	_, err = shell("mkdir bin", &runs).installIn(root)
	require.EqualError(t, err, "tool-1 was installed without its file bin/tool")
	file, err := shell(works, &runs).installIn(root)
	require.NoError(t, err)
	requireWhole(t, file)
	require.EqualValues(t, 3, runs.Load())
	require.NoFileExists(t, filepath.Join(root, "tool-1.tmp"))
}

// The remains of a killed installation do not count as the program; nor does a folder that has been emptied.
func TestHalfAnInstallationIsRepeated(t *testing.T) {
	for _, left := range []string{"tool-1.tmp/bin/tool", "tool-1/bin/other"} {
		root := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, left)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, left), []byte("half"), 0o600))
		var runs atomic.Int32
		file, err := shell(works, &runs).installIn(root)
		require.NoError(t, err)
		requireWhole(t, file)
		require.NoFileExists(t, filepath.Join(root, left))
	}
}

func TestAnInstallationThatIsImpossibleIsTriedOnceInAProcess(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	var runs atomic.Int32
	install := shell("exit 1", &runs).once()
	for range 3 {
		_, err := install()
		require.Error(t, err)
	}
	require.EqualValues(t, 1, runs.Load())
}
