package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/internal/private"
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

	Linked    Moment = "second name made" // of a kept file; it is renamed next
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

// replace writes the content of a key: temporary file, fsync, rename, fsync of the directory (state.md 4.9). check is
// called right before the rename; an error stops it.
func (d *Dir) replace(key string, content io.Reader, check func() error) error {
	path := d.Path(key)
	temp, err := d.write(key, content)
	if err != nil {
		return err
	}
	defer temp.use.Close()
	err = check()
	// A sidecar of Pulumi describes the old content, and after a truncated one Pulumi cannot read the file.
	if err == nil {
		err = removeIfExists(path + sidecar)
	}
	if err == nil {
		err = d.rename(temp.path, path)
	}
	if err != nil {
		return errors.Join(err, removeIfExists(temp.path))
	}
	if err := d.at(Renamed); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return err
	}
	return d.at(Durable)
}

// write makes a temporary file with the content of a key, durable except for its name. If it fails it leaves none behind.
func (d *Dir) write(key string, content io.Reader) (temporary, error) {
	f, temp, err := d.begin(key)
	if err != nil {
		return temporary{}, err
	}
	fill := func() error {
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
	if err = errors.Join(fill(), f.Close()); err == nil {
		return temp, nil
	}
	_ = temp.use.Close() // nothing was written through it
	if errors.Is(err, ErrKilled) {
		return temporary{}, err
	}
	return temporary{}, errors.Join(err, removeIfExists(temp.path))
}

// rename makes the directory of to if it is missing.
func (d *Dir) rename(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.makeDirs(filepath.Dir(to)); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// create makes a new file, and its directory if it is missing.
func (d *Dir) create(path string) (*os.File, error) {
	f, err := private.Create(path, d.files)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := d.makeDirs(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return private.Create(path, d.files)
}

// makeDirs is [private.MkdirAll] with the new entries durable in the directories above.
func (d *Dir) makeDirs(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := d.makeDirs(parent); err != nil {
			return err
		}
	}
	if err := private.Mkdir(dir, d.folders); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// link makes to a second name of from. Files are never written in place, so to keeps the present content of from. The old
// content of to is lost.
func (d *Dir) link(from, to string) error {
	target := d.Path(to)
	temp, err := d.beginLink(d.Path(from), to)
	if err != nil {
		return err
	}
	defer temp.use.Close()
	if err := d.at(Linked); errors.Is(err, ErrKilled) {
		return err
	} else if err != nil {
		return errors.Join(err, removeIfExists(temp.path))
	}
	if err := removeIfExists(target + sidecar); err != nil {
		return errors.Join(err, removeIfExists(temp.path))
	}
	if err := d.rename(temp.path, target); err != nil {
		return errors.Join(err, removeIfExists(temp.path))
	}
	// Renaming one name of a file to another name of it does nothing and leaves both.
	return errors.Join(removeIfExists(temp.path), syncDir(filepath.Dir(target)))
}

// beginLink makes a second name of a file under a temporary name for a key.
func (d *Dir) beginLink(from, key string) (temporary, error) {
	for {
		file := d.tempFor(key)
		if err := d.makeDirs(filepath.Dir(file)); err != nil {
			return temporary{}, err
		}
		if err := os.Link(from, file); err != nil {
			return temporary{}, err
		}
		temp, err := inUse(file)
		if err == nil {
			return temp, nil
		}
		if err = errors.Join(unlessClaimed(err), removeIfExists(file)); err != nil {
			return temporary{}, err
		}
	}
}

// sidecar is the extension of the file with attributes that Pulumi puts beside a file.
const sidecar = ".attrs"

// isDebris reports whether a file is not a content: an unfinished write or a sidecar.
func isDebris(name string) bool {
	return strings.HasSuffix(name, temporarySuffix) || strings.HasSuffix(name, sidecar)
}

func removeIfExists(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err // it names the file
	}
	return nil
}

// syncDir makes renames in a directory durable. Some file systems do not support that and report so.
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
