package loopback

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// maxPath is the longest path of a socket that every Unix accepts, in bytes.
const maxPath = 103

// A socket is in a folder of its own, with this prefix in the folder for temporary files.
const folderPrefix, socketName = "sluice-", "socket"

// leftAfter is the age from which a socket that nobody listens at is taken for one of a process that was killed. A younger one may be about to be
// listened at.
const leftAfter = time.Hour

// listenUnix listens at a socket that only the user of this process can open, in a new folder. It returns nil if there can be no such
// socket: on Windows, whose clients cannot dial it, and if the path is too long or would need escapes in a URL. The caller removes the
// folder.
func listenUnix() (l net.Listener, folder string) {
	if runtime.GOOS == "windows" {
		return nil, ""
	}
	removeLeft(os.TempDir())
	folder, err := os.MkdirTemp("", folderPrefix) // with mode 0700
	if err != nil {
		return nil, ""
	}
	path := filepath.Join(folder, socketName)
	if isPlain(path) {
		if l, err = net.Listen("unix", path); err == nil {
			err = os.Chmod(path, 0o600)
		}
		if err == nil {
			return l, folder
		}
	}
	if l != nil {
		_ = l.Close()
	}
	_ = os.RemoveAll(folder) // it is empty
	return nil, ""
}

// removeLeft removes the sockets that killed processes have left in a folder. A socket of another user, or one that is listened at, stays.
func removeLeft(temporary string) {
	sockets, _ := filepath.Glob(filepath.Join(temporary, folderPrefix+"*", socketName)) // the only error is one of the pattern
	for _, path := range sockets {
		is, err := os.Lstat(path)
		if err != nil || is.Mode().Type() != os.ModeSocket || time.Since(is.ModTime()) < leftAfter {
			continue
		}
		c, err := net.Dial("unix", path)
		switch {
		case err == nil:
			_ = c.Close()
		case errors.Is(err, syscall.ECONNREFUSED) && os.Remove(path) == nil:
			_ = os.Remove(filepath.Dir(path)) // unless there is something else in it
		}
	}
}

// isPlain reports whether every client understands "unix://" and the path.
func isPlain(path string) bool {
	return len(path) <= maxPath && filepath.IsAbs(path) && strings.IndexFunc(path, isSpecial) < 0
}

func isSpecial(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+", r))
}
