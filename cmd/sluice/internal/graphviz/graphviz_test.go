package graphviz

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
)

func TestLayoutWritesTheSameBytesEachTime(t *testing.T) {
	const source = `digraph { a [label="A & \"b\""]; a -> b; }`
	for _, format := range []Format{SVG, JSON} {
		first, err := Layout(t.Context(), source, format)
		require.NoError(t, err)
		require.NotEmpty(t, first)
		second, err := Layout(t.Context(), source, format)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	}
}

func TestLayoutReportsWhatIsNoGraph(t *testing.T) {
	_, err := Layout(t.Context(), "digraph { a -> ", SVG)
	require.ErrorContains(t, err, "syntax error")
	_, err = Layout(t.Context(), "digraph { a }\x00", SVG)
	require.ErrorContains(t, err, "zero byte")
	_, err = Layout(t.Context(), "digraph { a }", "nothing")
	require.Error(t, err)
}

func TestLayoutIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	_, err := Layout(ctx, "digraph { a }", SVG)
	require.ErrorIs(t, err, errStopped)
}

// Machine code is read from files that an earlier process has written, and damaged files do no harm.
func TestMachineCodeIsKeptInFiles(t *testing.T) {
	dir := t.TempDir()
	onDisk := func() wazero.CompilationCache {
		c, err := wazero.NewCompilationCacheWithDir(dir)
		require.NoError(t, err)
		return c
	}
	drawn := func(caches ...wazero.CompilationCache) error {
		m, err := start(t.Context(), caches)
		if err != nil {
			return err
		}
		defer m.runtime.Close(t.Context())
		out, err := m.layout(t.Context(), "digraph { a }", SVG)
		require.Contains(t, string(out), "<svg")
		return err
	}
	require.NoError(t, drawn(onDisk()))
	files, err := filepath.Glob(dir + "/*/*")
	require.NoError(t, err)
	require.Len(t, files, 1)
	written, err := os.Stat(files[0])
	require.NoError(t, err)
	require.NoError(t, drawn(onDisk()))
	read, err := os.Stat(files[0])
	require.NoError(t, err)
	require.Equal(t, written.ModTime(), read.ModTime(), "it is not compiled again")
	inMemory := wazero.NewCompilationCache() // compiling takes more than a second
	for _, damage := range []int64{0, 10, written.Size() / 2} {
		require.NoError(t, os.Truncate(files[0], damage))
		require.Error(t, drawn(onDisk()))
		require.NoError(t, drawn(onDisk(), inMemory))
	}
}

var errStopped = errors.New("stopped")

// The module is the one in decision 0102.
func TestModuleIsThePublishedOne(t *testing.T) {
	sum := sha256.Sum256(code)
	require.Equal(t, "7cc5b0a5f176aeaa69760ed5dc3282ceda2b1b04229b22de77bb0a5eab45578e", hex.EncodeToString(sum[:]))
	require.True(t, strings.HasPrefix(string(code), "\x00asm"))
}
