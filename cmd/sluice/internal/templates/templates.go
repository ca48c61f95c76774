package templates

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed all:builtin
var builtin embed.FS

// projectFile is the file that makes a folder a template.
const projectFile = "Pulumi.yaml"

// ending hides the files of built-in templates from other tools.
const ending = ".template"

// Template is a template for projects.
type Template struct {
	Name        string
	Description string
	// ProjectDescription is the default description of projects.
	ProjectDescription string
	// Settings are the settings that a new stack needs.
	Settings []Setting

	files fs.FS
}

// Setting is one setting that a template asks for.
type Setting struct {
	Key         string
	Description string
	Default     string
	HasDefault  bool
	Secret      bool
}

// UnknownError reports that there is no template with a name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	built := strings.Join(Names(), ", ")
	if strings.Contains(e.Name, "://") || strings.HasPrefix(e.Name, "git@") {
		return fmt.Sprintf("templates are not downloaded: fetch %s yourself and name its folder, or use one of %s", e.Name, built)
	}
	return fmt.Sprintf("there is no template %q; there are %s, and any folder with a %s can be named", e.Name, built, projectFile)
}

// Names lists the built-in templates in the order in which they are offered.
func Names() []string { return []string{"yaml", "typescript", "go", "python"} }

// Find returns the built-in template with a name or, for a path, the template in that folder. It returns an
// [*UnknownError] if there is none, or an error of a project file that cannot be read.
func Find(name string) (*Template, error) {
	for _, known := range Names() {
		if name == known {
			files, err := fs.Sub(builtin, "builtin/"+name)
			if err != nil {
				return nil, err
			}
			return read(name, files)
		}
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil, &UnknownError{Name: name}
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	// A template may be somebody else's: its links can lead to its own files only.
	root, err := os.OpenRoot(absolute)
	if err != nil {
		return nil, err
	}
	t, err := read(filepath.Base(absolute), root.FS())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no template: it has no %s", name, projectFile)
	}
	return t, err
}

func read(name string, files fs.FS) (*Template, error) {
	text, err := fs.ReadFile(files, projectFile)
	if err != nil {
		return nil, err
	}
	t := &Template{Name: name, files: files}
	if err := t.describe(text); err != nil {
		return nil, fmt.Errorf("the template %s: %s: %w", name, projectFile, err)
	}
	return t, nil
}
