package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// temporary is a file that is being written, under a temporary name.
type temporary struct {
	path string
	use  io.Closer // while it is open, no process takes the file for debris
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

const temporarySuffix = ".tmp"

// begin makes the temporary file for a key.
func (d *Dir) begin(key string) (*os.File, temporary, error) {
	for {
		f, err := d.create(d.tempFor(key))
		if err != nil {
			return nil, temporary{}, err
		}
		temp, err := inUse(f.Name())
		if err == nil {
			return f, temp, nil
		}
		if err = errors.Join(unlessClaimed(err), f.Close(), removeIfExists(f.Name())); err != nil {
			return nil, temporary{}, err
		}
	}
}

// inUse claims a new temporary file.
func inUse(file string) (temporary, error) {
	use, err := claim(file)
	if errors.Is(err, errors.ErrUnsupported) { // without locks no other process removes it, either
		return temporary{file, io.NopCloser(nil)}, nil
	}
	return temporary{file, use}, err
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
		err = errors.Join(err, removeIfExists(file), use.Close())
	}
	return err
}

// errClaimed is the error if another process uses a file, or has removed it.
var errClaimed = errors.New("another process uses the file")

// unlessClaimed returns nil for an error after which another attempt is enough: another process took the new file for debris
// before this process had claimed it.
func unlessClaimed(err error) error {
	if errors.Is(err, errClaimed) {
		return nil
	}
	return err
}
