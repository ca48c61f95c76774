package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pkg/sftp"

	"github.com/sluice-iac/sluice/property"
)

// target is the file system of another machine.
type target struct {
	*sftp.Client
	base string // the base of relative paths on this machine
}

func (t *target) here(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	// A slash at the end is significant, and Join removes it.
	joined := filepath.Join(t.base, name)
	if strings.HasSuffix(name, "/") {
		joined += "/"
	}
	return joined
}

// open opens a file of this machine, and refuses anything but a regular file, such as a named pipe.
func open(ctx context.Context, name string) (io.ReadCloser, error) {
	return property.AssetReader{}.Open(ctx, property.Asset{Kind: property.KindPath, Path: name})
}

// put copies a file or a folder of this machine.
func (t *target) put(ctx context.Context, name, dest string) error {
	name = t.here(name)
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		content, err := open(ctx, name)
		if err != nil {
			return err
		}
		defer content.Close()
		return t.putContent(filepath.Base(name), content, dest)
	}
	if !strings.HasSuffix(name, "/") {
		dest = path.Join(dest, filepath.Base(name))
	}
	return fs.WalkDir(os.DirFS(name), ".", func(below string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := path.Join(dest, below)
		if e.IsDir() {
			return t.directory(to)
		}
		content, err := open(ctx, filepath.Join(name, filepath.FromSlash(below)))
		if err != nil {
			return err
		}
		defer content.Close()
		return t.write(to, content)
	})
}

// putContent writes a file to dest, or into it if it is a directory.
func (t *target) putContent(name string, content io.Reader, dest string) error {
	info, err := t.Stat(dest)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", dest, err)
	case err == nil && info.IsDir() && name == "":
		return fmt.Errorf("%s is a directory, and the source has no name that the file could have in it; "+
			"write the path of a file", dest)
	case err == nil && info.IsDir():
		dest = path.Join(dest, name)
	}
	return t.write(dest, content)
}

// directory makes a directory and those above it, unless it is there.
func (t *target) directory(dest string) error {
	if info, err := t.Stat(dest); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is there and not a directory", dest)
	}
	if err := t.MkdirAll(dest); err != nil {
		return fmt.Errorf("making the directory %s: %w", dest, err)
	}
	return nil
}

// write makes or overwrites a file.
func (t *target) write(dest string, content io.Reader) error {
	if err := t.directory(path.Dir(dest)); err != nil {
		return err
	}
	f, err := t.Create(dest)
	if err != nil {
		return fmt.Errorf("making the file %s: %w", dest, err)
	}
	_, err = f.ReadFrom(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the file %s: %w", dest, err)
	}
	return nil
}
