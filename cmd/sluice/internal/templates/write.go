package templates

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
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

// Write writes the files of a project into a directory, and makes the directory if it does not exist. It returns an
// [*ExistsError] for files that exist, unless force is set. If it fails, nothing has been written.
func (t *Template) Write(directory string, p Project, force bool) (*Written, error) {
	files, err := t.render(p)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(files))
	var there []string
	for name := range files {
		names = append(names, name)
		if _, err := os.Lstat(filepath.Join(directory, name)); err == nil {
			there = append(there, name)
		}
	}
	slices.Sort(names)
	slices.Sort(there)
	if len(there) > 0 && !force {
		return nil, &ExistsError{Files: there}
	}
	w := &Written{before: map[string][]byte{}}
	for _, name := range names {
		if err := w.write(filepath.Join(directory, name), files[name]); err != nil {
			return nil, errors.Join(err, w.Undo())
		}
	}
	return w, nil
}

// render returns the content of the files of a project, by path.
func (t *Template) render(p Project) (map[string][]byte, error) {
	replace := strings.NewReplacer("${PROJECT}", p.Name, "${DESCRIPTION}", p.Description)
	files := map[string][]byte{}
	size := 0
	err := fs.WalkDir(t.files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "node_modules"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		content, err := t.content(path)
		if err != nil {
			return fmt.Errorf("the template %s: %w", t.Name, err)
		}
		if size += len(content); size > maxSize {
			return fmt.Errorf("the template %s is larger than %d MiB; is its folder the right one?", t.Name, maxSize>>20)
		}
		switch {
		case path == t.kind.file:
			personal := p
			if !t.kind.named {
				personal.Name = ""
			}
			text, err := personalize(string(content), personal)
			if err != nil {
				return fmt.Errorf("the template %s: %s: %w", t.Name, t.kind.file, err)
			}
			content = []byte(strings.ReplaceAll(text, "${PROJECT}", p.Name))
		case isText(content):
			content = []byte(replace.Replace(string(content)))
		}
		files[filepath.FromSlash(strings.TrimSuffix(path, ending))] = content
		return nil
	})
	return files, err
}

// maxSize is the maximal total size of the files of a template in bytes.
const maxSize = 100 << 20

// content reads a regular file, or the regular file in the template that a link leads to. Opening other files could
// block for ever.
func (t *Template) content(path string) ([]byte, error) {
	info, err := fs.Stat(t.files, path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file", path)
	case info.Size() > maxSize:
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxSize>>20)
	}
	return fs.ReadFile(t.files, path)
}

// isText reports whether a file is a text file, in which placeholders are replaced.
func isText(content []byte) bool { return utf8.Valid(content) && !bytes.ContainsRune(content, 0) }

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
