package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// local is a file or folder that a user names.
type local struct{ path string }

func (l *local) place() string { return l.path }

func (l *local) latest(context.Context, Request) (string, error) { return "", errLatest }

func (l *local) find(context.Context, Request) (asset, error) { return asset{file: l.path}, nil }

// fromFile installs an archive, an executable or a folder.
func (i *Installer) fromFile(ctx context.Context, p place, path string) error {
	want := p.request.Checksums[platform()]
	info, err := os.Stat(path)
	if err != nil {
		return absent(err)
	}
	if info.IsDir() {
		if len(want) > 0 {
			return errors.New("a folder has no checksum to compare")
		}
		return i.put(ctx, p, func(half string) error { return os.CopyFS(half, os.DirFS(path)) })
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is neither a file nor a folder")
	}
	isArchive, err := isArchive(path)
	if err != nil {
		return err
	}
	return i.put(ctx, p, func(half string) error {
		if isArchive {
			return i.unpackFile(ctx, p, path, half, want, "")
		}
		return copyProgram(ctx, path, filepath.Join(half, p.request.executable()+ending()), want)
	})
}

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

func ending() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

func copyProgram(ctx context.Context, from, to string, want []byte) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := verify(ctx, in, want, ""); err != nil {
		return err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &attentive{ctx, in})
	return errors.Join(err, out.Close())
}
