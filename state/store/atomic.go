package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// Moment is a point during a write to a directory at which the process may be killed. Tests stop there.
type Moment string

// The moments of a write, in their order.
const (
	Created Moment = "temporary file created"
	Written Moment = "temporary file written"
	Synced  Moment = "temporary file durable"
	Renamed Moment = "renamed"
	Durable Moment = "directory durable"

	Linked    Moment = "second name made" // of a file that is kept; it is renamed next
	Appending Moment = "appending to a log"
)

// ErrKilled is what a [Dir.Crash] returns to stop a write as a kill does: nothing is cleaned up.
var ErrKilled = errors.New("killed")

func (d *Dir) at(m Moment) error {
	if d.Crash == nil {
		return nil
	}
	return d.Crash(m)
}

// replace writes content to path: temporary file temp, fsync, rename, fsync of the directory (state.md 4.9). check is
// called right before the rename and may stop it.
func (d *Dir) replace(path, temp string, content io.Reader, check func() error) error {
	dir := filepath.Dir(path)
	if err := d.fill(temp, content); err != nil {
		if errors.Is(err, ErrKilled) {
			return err
		}
		return errors.Join(err, removeIfExists(temp))
	}
	err := check()
	// A sidecar of Pulumi describes the old content, and a truncated one makes the file unreadable for it.
	if err == nil {
		err = removeIfExists(path + sidecar)
	}
	if err == nil {
		err = rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	if err := d.at(Renamed); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	return d.at(Durable)
}

func (d *Dir) fill(temp string, content io.Reader) error {
	f, err := create(temp)
	if err != nil {
		return err
	}
	write := func() error {
		if err := d.at(Created); err != nil {
			return err
		}
		if _, err := io.Copy(f, content); err != nil {
			return err
		}
		if err := d.at(Written); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		return d.at(Synced)
	}
	return errors.Join(write(), f.Close())
}

// rename makes the directory of to if that is missing.
func rename(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeDirs(filepath.Dir(to)); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// create makes a new file, and its directory if that is missing.
func create(path string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := os.OpenFile(path, flags, 0o666)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := makeDirs(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flags, 0o666)
}

// makeDirs is os.MkdirAll with the new entries durable in the directories above.
func makeDirs(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDirs(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// link makes to a second name of from: files are never written into, so that it keeps what from holds now. The old content
// of to is lost.
func (d *Dir) link(from, to string) error {
	temp := to + "." + uuid.NewString() + ".tmp"
	if err := makeDirs(filepath.Dir(to)); err != nil {
		return err
	}
	if err := os.Link(from, temp); err != nil {
		return err
	}
	if err := d.at(Linked); errors.Is(err, ErrKilled) {
		return err
	} else if err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	if err := removeIfExists(to + sidecar); err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	if err := os.Rename(temp, to); err != nil {
		return errors.Join(err, removeIfExists(temp))
	}
	// Renaming one name of a file to another name of it does nothing and leaves both.
	return errors.Join(removeIfExists(temp), syncDir(filepath.Dir(to)))
}

// sidecar is what Pulumi puts beside a file: its attributes.
const sidecar = ".attrs"

// isDebris reports whether a file is not a content: an unfinished write or a sidecar.
func isDebris(name string) bool {
	return strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, sidecar)
}

func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err // it names the file
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
