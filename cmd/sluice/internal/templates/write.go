package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Project is the data that completes a template.
type Project struct {
	Name, Description string
	// RuntimeOptions are added to those of the template, and replace those of the same name.
	RuntimeOptions map[string]string
}

// ExistsError reports the files of a template that already exist.
type ExistsError struct{ Files []string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("these files exist already: %s; use --force to write over them", strings.Join(e.Files, ", "))
}

// Written records what [Template.Write] has written.
type Written struct {
	before map[string][]byte // by path; nil for a file that did not exist
	made   []string          // directories, parents first
}

func (w *Written) write(path string, content []byte) error {
	if err := w.makeDirectory(filepath.Dir(path)); err != nil {
		return err
	}
	if err := w.Remember(path); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// Remember records the present content of a file, which may not exist, so that Undo restores it.
func (w *Written) Remember(path string) error {
	before, err := os.ReadFile(path)
	switch {
	case err == nil && before == nil:
		before = []byte{}
	case errors.Is(err, fs.ErrNotExist):
		before = nil
	case err != nil:
		return err
	}
	w.before[path] = before
	return nil
}

func (w *Written) makeDirectory(path string) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.makeDirectory(filepath.Dir(path)); err != nil {
		return err
	}
	w.made = append(w.made, path)
	return os.Mkdir(path, 0o755)
}

// Undo restores everything: it restores the old content of files, and removes new files and the new directories that
// contain nothing else.
func (w *Written) Undo() error {
	var errs []error
	for path, content := range w.before {
		if content != nil {
			errs = append(errs, os.WriteFile(path, content, 0o644))
		} else if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, directory := range slices.Backward(w.made) {
		_ = os.Remove(directory) // fails if another file has been put there
	}
	return errors.Join(errs...)
}
