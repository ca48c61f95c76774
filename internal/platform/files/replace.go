package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/internal/platform/private"
)

// UncreatedError is the error of [Replace] if there can be no file beside the one to be replaced: the folder is missing, or belongs to another user.
type UncreatedError struct{ Err error }

func (e *UncreatedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UncreatedError) Unwrap() error { return e.Err }

// Replace makes a file, or replaces one: fill writes the content to a new file beside it, which gets its name when the content is durable. At a symbolic
// link, the file that it points to is replaced. A file that exists keeps its permissions. mode is that of a new one, less what the umask takes from
// others. Several processes may replace a file at the same time: the last one wins. If fill fails, the former file stays, and Replace returns the error
// of fill.
func Replace(path string, mode fs.FileMode, fill func(*os.File) error) error {
	return replace(path, fill, func(temporary string, former fs.FileInfo) (*os.File, error) {
		if former != nil {
			return private.Create(temporary, former.Mode().Perm())
		}
		return create(temporary, mode)
	})
}

// ReplacePrivate is [Replace] for a file that becomes one for its owner only, whatever it was.
func ReplacePrivate(path string, fill func(*os.File) error) error {
	return replace(path, fill, func(temporary string, _ fs.FileInfo) (*os.File, error) {
		return private.Create(temporary, private.File)
	})
}

// Content returns the function that fills a file with b.
func Content(b []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(b)
		return err
	}
}

func replace(path string, fill func(*os.File) error, open func(temporary string, former fs.FileInfo) (*os.File, error)) error {
	path, err := target(path)
	if err != nil {
		return &UncreatedError{err}
	}
	former, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		former = nil
	case err != nil:
		return &UncreatedError{err}
	case !former.Mode().IsRegular():
		return fmt.Errorf("cannot replace %s, which is not a file; give the path of a file", path)
	}
	removeLeft(filepath.Dir(path))
	// The name of the file may be as long as the system allows, so it is no part of the temporary one.
	f, err := open(filepath.Join(filepath.Dir(path), temporaryPrefix+uuid.NewString()+temporarySuffix), former)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		failed.Path = path // instead of the temporary name
	}
	if err != nil {
		return &UncreatedError{err}
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// A file that is being written has a name of this form.
const temporaryPrefix, temporarySuffix = ".writing-", ".tmp"

// leftAfter is how long after its last change an unfinished file is taken for one of a process that was killed.
const leftAfter = time.Hour

// removeLeft removes the unfinished files that killed processes have left in a folder. A file that cannot be removed stays: the next process tries again.
func removeLeft(folder string) {
	entries, _ := os.ReadDir(folder) // a folder that cannot be read is no reason not to write
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), temporaryPrefix) || !strings.HasSuffix(e.Name(), temporarySuffix) {
			continue
		}
		if i, err := e.Info(); err == nil && time.Since(i.ModTime()) > leftAfter {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

// maxLinks is the number of links after which they are taken for a circle.
const maxLinks = 40

// target follows the links at a path, even to a file that does not exist yet.
func target(path string) (string, error) {
	at := path
	for range maxLinks {
		to, err := os.Readlink(at)
		if err != nil {
			return at, nil //nolint:nilerr // it is no link
		}
		if !filepath.IsAbs(to) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(at)) // "a/../b" is not "b" if a is a link
			if err != nil {
				return "", err
			}
			to = filepath.Join(folder, to)
		}
		at = to
	}
	return "", fmt.Errorf("%s is a link that leads to no file; remove it", path)
}

// create makes a new file. The umask takes nothing from its owner.
func create(path string, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm())
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o700 != mode.Perm()&0o700 {
		err = f.Chmod(info.Mode().Perm() | mode.Perm()&0o700)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return f, nil
}
