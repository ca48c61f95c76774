//go:build !windows

package loopback

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
)

func start(t *testing.T) *Server {
	s := NewServer(t.Context(), func(grpc.ServiceRegistrar) {}, func(string) {})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestAServerThatNobodyNeedsDoesNotListen(t *testing.T) {
	s := start(t)
	require.Empty(t, s.address)
	require.Empty(t, s.socket)
	require.NoError(t, s.Close())
	_, err := s.Address()
	require.ErrorIs(t, err, errClosed)
}

func TestAnAddressStaysTheSame(t *testing.T) {
	s := start(t)
	for range 2 {
		at, err := s.Address()
		require.NoError(t, err)
		require.Equal(t, s.address, at)
		at, err = s.SocketAddress()
		require.NoError(t, err)
		require.Equal(t, s.socket, at)
	}
}

func TestSocketsAreOnlyAtPathsThatEveryClientUnderstands(t *testing.T) {
	for name, isSocket := range map[string]bool{
		"plain-1.2_3+": true, "with space": false, "per%cent": false, "question?": false, "n#mber": false, "ünicode": false,
		strings.Repeat("long", 25): false,
	} {
		folder, err := os.MkdirTemp("/tmp", "")
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
		t.Setenv("TMPDIR", filepath.Join(folder, name))
		require.NoError(t, os.Mkdir(os.TempDir(), 0o700))
		s := start(t)
		at, err := s.SocketAddress()
		require.NoError(t, err)
		require.Equal(t, isSocket, strings.HasPrefix(at, "unix://"+os.TempDir()), "%s: %s", name, at)
		if !isSocket {
			require.Equal(t, s.address, at)
		}
		require.NoError(t, s.Close())
		left, err := os.ReadDir(os.TempDir())
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
