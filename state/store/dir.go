package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/internal/platform/private"
)

// Dir is a store in a directory, whose files Pulumi reads and writes, too ([state.md 4.9]).
//
// [state.md 4.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#49-directories
type Dir struct {
	root string
	// Crash, for tests, is called at each moment of a write. An error stops the write: [ErrKilled] like a kill, any other
	// like a failure. nil stops nothing.
	Crash func(Moment) error

	temp           string   // see [Dir.KeepTidy]
	quiet          []string // see [Dir.KeepTidy]
	files, folders fs.FileMode
}

var (
	_ Store  = (*Dir)(nil)
	_ Keeper = (*Dir)(nil)
	_ Tidier = (*Dir)(nil)
)

// NewDir returns the store in a directory, given by its absolute path. It has to exist. New files in it are for its owner
// only, whatever the umask.
func NewDir(root string) *Dir { return &Dir{root: root, files: private.File, folders: private.Folder} }

// Share makes folders with these permissions from now on, and files with their read and write bits.
func (d *Dir) Share(folders fs.FileMode) { d.files, d.folders = folders&0o666, folders }

// Path returns the file of a key.
func (d *Dir) Path(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

// Name implements [Store]: it is the path.
func (d *Dir) Name(key string) string { return d.Path(key) }

// Close implements [Store].
func (d *Dir) Close() error { return nil }

func infoOf(key string, i fs.FileInfo) Info {
	return Info{
		Key: key, Modified: i.ModTime(), Size: i.Size(),
		// A replaced file is another file: inodes distinguish two that were written within the resolution of the clock.
		Revision: fmt.Sprintf("%d-%d-%d", i.ModTime().UnixNano(), i.Size(), inode(i)),
	}
}

// Read implements [Store].
func (d *Dir) Read(_ context.Context, key string) ([]byte, Info, error) {
	f, err := os.Open(d.Path(key))
	if err != nil {
		return nil, Info{}, unlessDangling(d.Path(key), err)
	}
	b, i, err := readAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, Info{}, err
	}
	return b, infoOf(key, i), nil
}

// readAll reads a file into memory of the file's size.
func readAll(f *os.File) ([]byte, fs.FileInfo, error) {
	i, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	b.Grow(int(i.Size()) + bytes.MinRead)
	if _, err := b.ReadFrom(f); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), i, nil
}

// unlessDangling returns err, unless a file is missing only because a symbolic link leads to nothing: something may be recorded
// where the link leads to, for example on a disk that is not mounted.
func unlessDangling(file string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, noLink := os.Readlink(file)
	if noLink != nil {
		return err
	}
	return fmt.Errorf("%s is a symbolic link to %s, which does not exist; restore that file, or remove the link", file, to)
}

// Stat implements [Store].
func (d *Dir) Stat(_ context.Context, keys ...string) ([]Info, error) {
	var infos []Info
	for _, key := range keys {
		i, err := os.Stat(d.Path(key))
		err = unlessDangling(d.Path(key), err)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case i.IsDir():
			return nil, fmt.Errorf("%s is a folder where a file is expected; move it away", d.Path(key))
		default:
			infos = append(infos, infoOf(key, i))
		}
	}
	return infos, nil
}

// List implements [Store]. Directories that cannot be read are left out, as in Pulumi. The directory of the prefix may be a
// symbolic link; links to directories in it are left out.
func (d *Dir) List(ctx context.Context, prefix string) ([]Info, error) {
	top, _ := path.Split(prefix)
	root := d.Path(top) + string(filepath.Separator) // which follows a link
	var infos []Info
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		key, err := d.key(file)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if !strings.HasPrefix(key+"/", prefix) && !strings.HasPrefix(prefix, key+"/") && file != root {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasPrefix(key, prefix) || isDebris(key) {
			return nil
		}
		i, err := os.Stat(file)
		if err != nil && e.Type()&fs.ModeSymlink != 0 {
			i, err = e.Info() // whoever reads it gets the error
		}
		if err == nil && !i.IsDir() { // otherwise it has just been removed
			infos = append(infos, infoOf(key, i))
		}
		return nil
	})
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(a.Key, b.Key) })
	return infos, err
}

func (d *Dir) key(file string) (string, error) {
	rel, err := filepath.Rel(d.root, file)
	return filepath.ToSlash(rel), err
}

// Write implements [Store]. The condition is checked right before the file is put in its place.
func (d *Dir) Write(ctx context.Context, key string, content []byte, c Condition) (Info, error) {
	check := func() error {
		if c == (Condition{}) {
			return nil
		}
		present, err := d.Stat(ctx, key)
		if err != nil {
			return err
		}
		if len(present) == 0 {
			return c.Check(key, Info{}, false)
		}
		return c.Check(key, present[0], true)
	}
	if err := d.replace(key, bytes.NewReader(content), check); err != nil {
		return Info{}, err
	}
	i, err := os.Stat(d.Path(key))
	if err != nil {
		return Info{}, err
	}
	return infoOf(key, i), nil
}

// Copy implements [Store].
func (d *Dir) Copy(_ context.Context, from, to string) error {
	f, err := os.Open(d.Path(from))
	if err != nil {
		return err
	}
	return errors.Join(d.replace(to, f, func() error { return nil }), f.Close())
}

// Keep implements [Keeper] with a second name for the file, if the file system has hard links. A symbolic link has no second
// name with the content of its file, which others may write in place besides, so that content is copied.
func (d *Dir) Keep(ctx context.Context, from, to string) error {
	if err := d.link(from, to); err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrKilled) {
		return err
	}
	return d.Copy(ctx, from, to)
}

// Remove implements [Store]. Directories stay.
func (d *Dir) Remove(_ context.Context, keys ...string) error {
	var problems error
	touched := map[string]bool{}
	for _, key := range keys {
		file := d.Path(key)
		if _, err := os.Lstat(file); err == nil {
			touched[filepath.Dir(file)] = true
		}
		problems = errors.Join(problems, private.Remove(file), private.Remove(file+sidecar))
	}
	for dir := range touched {
		if err := syncDir(dir); !errors.Is(err, fs.ErrNotExist) {
			problems = errors.Join(problems, err)
		}
	}
	return problems
}

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
		err = private.Remove(path + sidecar)
	}
	if err == nil {
		err = d.rename(temp.path, path)
	}
	if err != nil {
		return errors.Join(err, private.Remove(temp.path))
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
	return temporary{}, errors.Join(err, private.Remove(temp.path))
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
		return errors.Join(err, private.Remove(temp.path))
	}
	if err := private.Remove(target + sidecar); err != nil {
		return errors.Join(err, private.Remove(temp.path))
	}
	if err := d.rename(temp.path, target); err != nil {
		return errors.Join(err, private.Remove(temp.path))
	}
	// Renaming one name of a file to another name of it does nothing and leaves both.
	return errors.Join(private.Remove(temp.path), syncDir(filepath.Dir(target)))
}

// errNoFile is the error if a second name cannot be made because the first one is not that of a file.
var errNoFile = errors.New("it is a symbolic link")

// beginLink makes a second name of a file under a temporary name for a key.
func (d *Dir) beginLink(from, key string) (temporary, error) {
	return claimed(func() (temporary, error) {
		file := d.tempFor(key)
		if err := d.makeDirs(filepath.Dir(file)); err != nil {
			return temporary{}, err
		}
		if err := os.Link(from, file); err != nil {
			return temporary{}, err
		}
		if i, err := os.Lstat(file); err == nil && i.Mode()&fs.ModeSymlink != 0 { // some systems link the link itself
			return temporary{}, errors.Join(errNoFile, private.Remove(file))
		}
		temp, err := inUse(file)
		if err != nil {
			err = errors.Join(err, private.Remove(file))
		}
		return temp, err
	})
}

// KeepTidy makes temporary files for keys under the prefixes quiet in the folder temp of the store, and not beside their
// targets: for folders in which Pulumi takes every file for a content, and those in which nobody would look for them.
func (d *Dir) KeepTidy(temp string, quiet ...string) { d.temp, d.quiet = temp, quiet }

// apart reports whether the temporary files for a key are in the folder temp.
func (d *Dir) apart(key string) bool {
	return slices.ContainsFunc(d.quiet, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// tempFor is a new temporary file for a key, on the same file system.
func (d *Dir) tempFor(key string) string {
	name := "." + uuid.NewString() + temporarySuffix
	if d.apart(key) {
		return filepath.Join(d.Path(d.temp), path.Base(key)+name)
	}
	return d.Path(key) + name
}

// begin makes the temporary file for a key.
func (d *Dir) begin(key string) (*os.File, temporary, error) {
	var f *os.File
	temp, err := claimed(func() (temp temporary, err error) {
		file := d.tempFor(key)
		if f, err = d.create(file); err != nil {
			return temporary{}, inFolder(err, file)
		}
		if temp, err = inUse(f.Name()); err != nil {
			err = errors.Join(err, f.Close(), private.Remove(f.Name()))
		}
		return temp, err
	})
	if err != nil {
		return nil, temporary{}, err
	}
	return f, temp, nil
}

// inFolder names the folder of a temporary file that cannot be made: nobody knows the file.
func inFolder(err error, file string) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) && failed.Path == file {
		failed.Op, failed.Path = "make a file in", filepath.Dir(file)
	}
	return err
}

// Tidy implements [Tidier]. It looks in the folder of [Dir.KeepTidy], and for each prefix in the folder with its files. The
// locks of the file system show whether a process still uses a temporary file, also one on another machine if the file system
// shares its locks. Without such locks nothing is removed.
func (d *Dir) Tidy(prefixes ...string) error {
	var problems error
	if d.temp != "" {
		prefixes = slices.Concat([]string{d.temp + "/"}, prefixes)
	}
	for _, prefix := range prefixes {
		problems = errors.Join(problems, d.tidy(path.Split(prefix)))
	}
	return problems
}

func (d *Dir) tidy(folder, prefix string) error {
	entries, err := os.ReadDir(d.Path(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), temporarySuffix) {
			continue
		}
		file := filepath.Join(d.Path(folder), e.Name())
		use, cannot := claim(file)
		if cannot != nil {
			continue // it is in use, or this process cannot find out
		}
		err = errors.Join(err, private.Remove(file), use.Close())
	}
	return err
}

// sidecar is the extension of the file with attributes that Pulumi puts beside a file.
const sidecar = ".attrs"

// isDebris reports whether a file is not a content: an unfinished write or a sidecar.
func isDebris(name string) bool {
	return strings.HasSuffix(name, temporarySuffix) || strings.HasSuffix(name, sidecar)
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
