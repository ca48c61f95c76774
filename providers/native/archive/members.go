package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// member is a file of an archive: a file of this machine, or a content.
type member struct {
	name    string // with slashes
	path    string // "" for a content
	info    fs.FileInfo
	content string
}

func (m member) copyTo(w io.Writer) error {
	if m.info == nil {
		_, err := io.Copy(w, strings.NewReader(m.content))
		return err
	}
	f, err := os.Open(m.path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// walk looks for the files of a directory.
type walk struct {
	excludes []string
	follow   bool
	output   fs.FileInfo // the previous archive, which is not a member itself; nil for none
	inside   []string    // the parent directories, by their real paths
	found    []member
}

// directory adds the files of a directory, whose name in the archive is name.
func (w *walk) directory(name, dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if slices.Contains(w.inside, real) {
		return fmt.Errorf("%s is a link to a directory above it", dir)
	}
	w.inside = append(w.inside, real)
	defer func() { w.inside = w.inside[:len(w.inside)-1] }()
	entries, err := os.ReadDir(real)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.entry(filepath.Join(name, e.Name()), filepath.Join(real, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(name, path string, e fs.DirEntry) error {
	excluded, err := w.excluded(name)
	if excluded || err != nil {
		return err
	}
	info, err := os.Stat(path) // of the target of a link
	switch {
	case err != nil:
		return err
	case info.IsDir() && e.Type()&fs.ModeSymlink != 0 && !w.follow:
		return nil
	case info.IsDir():
		return w.directory(name, path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file nor a directory", path)
	case w.output != nil && os.SameFile(info, w.output):
		return nil
	}
	w.found = append(w.found, member{name: filepath.ToSlash(name), path: path, info: info})
	return nil
}

func (w *walk) excluded(name string) (bool, error) {
	for _, pattern := range w.excludes {
		match, err := doublestar.PathMatch(filepath.FromSlash(pattern), name)
		if err != nil {
			return false, errors.Join(fmt.Errorf("excludes: %q", pattern), err)
		}
		if match {
			return true, nil
		}
	}
	return false, nil
}
