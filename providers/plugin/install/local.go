package install

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
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
	isArchive, err := isCompressed(path)
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

// isCompressed reports whether a file begins as those of gzip do.
func isCompressed(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	switch {
	case n == 0:
		return false, errors.New("it is empty")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return false, err
	case string(head[:n]) == "PK\x03\x04":
		return false, errors.New("it is a .zip archive; plugins are in .tar.gz archives")
	}
	return n >= 2 && head[0] == 0x1f && head[1] == 0x8b, nil
}

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
