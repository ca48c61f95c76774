package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// local is a file or folder that a user names.
type local struct{ path string }

func (l *local) place() string { return l.path }

func (l *local) latest(context.Context, Request) (string, error) { return "", errLatest }

func (l *local) find(context.Context, Request) (asset, error) { return asset{file: l.path}, nil }

// isArchive reports whether a file begins like a gzip file. A file that begins neither like that nor like a program is
// refused.
func isArchive(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	head = head[:n]
	switch {
	case n == 0:
		return false, errors.New("it is empty")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return false, err
	case string(head) == "PK\x03\x04":
		return false, errors.New("it is a .zip archive; plugins are in .tar.gz archives")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return true, nil
	case !slices.ContainsFunc(programs[:], func(magic string) bool { return strings.HasPrefix(string(head), magic) }):
		return false, fmt.Errorf("it is neither a .tar.gz archive nor a program: it begins with %q", head)
	}
	return false, nil
}

// programs are the beginnings of executables: scripts, and those of Linux, Windows and macOS.
var programs = [...]string{"#!", "\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"}
