package backend

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// moment is a point during a write at which the process may be killed. Tests stop there.
type moment string

const (
	momentCreated moment = "temporary file created"
	momentWritten moment = "temporary file written"
	momentSynced  moment = "temporary file durable"
	momentRenamed moment = "renamed"
	momentDurable moment = "directory durable"

	momentAppending moment = "appending to a journal"
)

// writer replaces files so that at every moment the old or the new content is there as a whole.
type writer struct {
	// crash stops the write at a moment, as a kill would: nothing is cleaned up. nil never does.
	crash func(moment) error
}

var errCrash = errors.New("killed")

func (w writer) at(m moment) error {
	if w.crash == nil {
		return nil
	}
	return w.crash(m)
}

// replace writes content to path: temporary file beside it, fsync, rename, fsync of the directory (state.md 4.9).
func (w writer) replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	temp := path + "." + uuid.NewString() + ".tmp"
	if err := w.fill(temp, content); err != nil {
		if errors.Is(err, errCrash) {
			return err
		}
		return errors.Join(err, removeIfExists(temp))
	}
	// A sidecar of the reference describes the old content, and a truncated one makes the file unreadable for it.
	if err := removeIfExists(path + ".attrs"); err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	if err := w.at(momentRenamed); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	return w.at(momentDurable)
}

func (w writer) fill(temp string, content []byte) error {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	write := func() error {
		if err := w.at(momentCreated); err != nil {
			return err
		}
		if _, err := f.Write(content); err != nil {
			return err
		}
		if err := w.at(momentWritten); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		return w.at(momentSynced)
	}
	return errors.Join(write(), f.Close())
}

// keep makes to a second name, or else a copy, of from, which is about to be replaced or removed: files are never written
// into, so that the second name keeps what from holds now. The old content of to is lost.
func (w writer) keep(from, to string) error {
	temp := to + "." + uuid.NewString() + ".tmp"
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	if err := os.Link(from, temp); err != nil {
		return w.copyFile(from, to)
	}
	if err := removeIfExists(to + ".attrs"); err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	if err := os.Rename(temp, to); err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	// Renaming one name of a file to another name of it does nothing and leaves both.
	return errors.Join(removeIfExists(temp), syncDir(filepath.Dir(to)))
}

func (w writer) copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return w.replace(to, b)
}

func removeIfExists(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// syncDir makes renames in a directory durable. Some file systems cannot do that for directories and say so.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrInvalid) || errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
