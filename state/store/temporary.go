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

// temporary is a file that is being written, under a name that it does not keep.
type temporary struct {
	path string
	use  io.Closer // until it is closed, nobody takes the file for debris
}

// KeepTidy makes temporary files for keys under the prefixes quiet in the folder temp of the store, and not beside their
// targets: for folders in which Pulumi takes every file for a content. [Dir.Tidy] removes those that are left of processes
// that were killed.
func (d *Dir) KeepTidy(temp string, quiet ...string) { d.temp, d.quiet = temp, quiet }

// apart reports whether the temporary files for a key are in the folder for them.
func (d *Dir) apart(key string) bool {
	return slices.ContainsFunc(d.quiet, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// tempFor is a new temporary file for a key, on the same file system.
func (d *Dir) tempFor(key string) string {
	name := "." + uuid.NewString() + ".tmp"
	if d.apart(key) {
		return filepath.Join(d.Path(d.temp), path.Base(key)+name)
	}
	return d.Path(key) + name
}

// begin makes the temporary file for a key.
func (d *Dir) begin(key string) (*os.File, temporary, error) {
	for {
		f, err := d.create(d.tempFor(key))
		if err != nil {
			return nil, temporary{}, err
		}
		temp := temporary{f.Name(), io.NopCloser(nil)}
		if !d.apart(key) {
			return f, temp, nil
		}
		use, err := claim(temp.path)
		switch {
		case err == nil:
			temp.use = use
			return f, temp, nil
		case errors.Is(err, errors.ErrUnsupported): // then nobody else removes it, either
			return f, temp, nil
		}
		closing := errors.Join(f.Close(), removeIfExists(temp.path))
		if closing != nil || !errors.Is(err, errClaimed) {
			return nil, temporary{}, errors.Join(err, closing)
		}
		// Another process took the new file for debris in the moment before this one had claimed it.
	}
}

// Tidy implements [Tidier]. Whether a process still uses a temporary file, the system says, also that of another machine
// where it has the locks of files in common. Where it cannot say that, nothing is removed.
func (d *Dir) Tidy() error {
	if d.temp == "" {
		return nil
	}
	entries, err := os.ReadDir(d.Path(d.temp))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".tmp") {
			continue
		}
		file := filepath.Join(d.Path(d.temp), e.Name())
		use, cannot := claim(file)
		if cannot != nil {
			continue // it is in use, or not for this process to judge
		}
		err = errors.Join(err, removeIfExists(file), use.Close())
	}
	return err
}

// errClaimed says that another process uses a file, or has removed it.
var errClaimed = errors.New("another process uses the file")
