package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/private"
)

// Dir is a store in a directory, whose files Pulumi reads and writes, too (state.md 4.9).
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
		return nil, Info{}, err
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

// Stat implements [Store].
func (d *Dir) Stat(_ context.Context, keys ...string) ([]Info, error) {
	var infos []Info
	for _, key := range keys {
		i, err := os.Stat(d.Path(key))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			infos = append(infos, infoOf(key, i))
		}
	}
	return infos, nil
}

// List implements [Store]. Directories that cannot be read are left out, as in Pulumi.
func (d *Dir) List(ctx context.Context, prefix string) ([]Info, error) {
	top, _ := path.Split(prefix)
	var infos []Info
	err := filepath.WalkDir(d.Path(top), func(file string, e fs.DirEntry, err error) error {
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
			if !strings.HasPrefix(key+"/", prefix) && !strings.HasPrefix(prefix, key+"/") && file != d.Path(top) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasPrefix(key, prefix) || isDebris(key) {
			return nil
		}
		if i, err := os.Stat(file); err == nil && !i.IsDir() { // otherwise it has just been removed
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

// Keep implements [Keeper] with a second name for the file, if the file system has hard links.
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
		problems = errors.Join(problems, removeIfExists(file), removeIfExists(file+sidecar))
	}
	for dir := range touched {
		if err := syncDir(dir); !errors.Is(err, fs.ErrNotExist) {
			problems = errors.Join(problems, err)
		}
	}
	return problems
}
