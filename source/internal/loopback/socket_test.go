//go:build !windows

package loopback

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

func TestTheNextServerRemovesTheSocketsOfKilledProcesses(t *testing.T) {
	temporary, err := os.MkdirTemp("/tmp", "")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temporary) })
	t.Setenv("TMPDIR", temporary)
	old := time.Now().Add(-2 * leftAfter)
	for name, c := range map[string]struct{ isListening, isOld, stays bool }{
		"sluice-killed":  {isOld: true},
		"sluice-working": {isOld: true, isListening: true, stays: true},
		"sluice-begins":  {stays: true},
		"another-killed": {isOld: true, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(temporary, name)
			require.NoError(t, os.Mkdir(folder, 0o700))
			path := filepath.Join(folder, socketName)
			l, err := net.Listen("unix", path)
			require.NoError(t, err)
			defer func() { _ = l.Close() }()
			if !c.isListening {
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				require.NoError(t, l.Close())
			}
			if c.isOld {
				require.NoError(t, os.Chtimes(path, old, old))
			}
			s := start(t)
			at, err := s.SocketAddress()
			require.NoError(t, err)
			require.Contains(t, at, temporary)
			if c.stays {
				require.FileExists(t, path)
			} else {
				require.NoDirExists(t, folder)
			}
		})
	}
	kept := filepath.Join(temporary, "sluice-notes")
	require.NoError(t, os.Mkdir(kept, 0o700))
	file := filepath.Join(kept, socketName)
	require.NoError(t, os.WriteFile(file, []byte("a file of somebody"), 0o600))
	require.NoError(t, os.Chtimes(file, old, old))
	_, err = start(t).SocketAddress()
	require.NoError(t, err)
	require.FileExists(t, file)
}
