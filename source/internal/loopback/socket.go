package loopback

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxPath is the longest path of a socket that every Unix accepts, in bytes.
const maxPath = 103

// listenUnix listens at a socket that only the user of this process can open, in a new folder. It returns nil if there can be no such
// socket: on Windows, whose clients cannot dial it, and if the path is too long or would need escapes in a URL. The caller removes the
// folder.
func listenUnix() (l net.Listener, folder string) {
	if runtime.GOOS == "windows" {
		return nil, ""
	}
	folder, err := os.MkdirTemp("", "sluice-") // with mode 0700
	if err != nil {
		return nil, ""
	}
	path := filepath.Join(folder, "socket")
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

// isPlain reports whether every client understands "unix://" and the path.
func isPlain(path string) bool {
	return len(path) <= maxPath && filepath.IsAbs(path) && strings.IndexFunc(path, isSpecial) < 0
}

func isSpecial(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-+", r))
}
