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

//go:embed all:builtin all:policies
var builtin embed.FS

// Kind is the kind of a template: [Projects] or [Policies].
type Kind struct {
	file   string // the file that makes a folder a template of this kind
	folder string // of the built-in templates
	names  []string
	named  bool // the new project or pack is named in the file
}

// Projects returns the templates for projects.
func Projects() Kind {
	return Kind{file: "Pulumi.yaml", folder: "builtin", names: []string{"yaml", "typescript", "go", "python", "java"}, named: true}
}

// Policies returns the templates for policy packs.
func Policies() Kind {
	return Kind{file: "PulumiPolicy.yaml", folder: "policies", names: []string{"typescript", "python"}}
}

// ending hides the files of built-in templates from other tools.
const ending = ".template"

// Template is a template for projects.
type Template struct {
	Name        string
	Description string
	// ProjectDescription is the default description of projects.
	ProjectDescription string
	// Runtime is the language of its programs, and RuntimeOptions are the names of the options that it sets.
	Runtime        string
	RuntimeOptions []string
	// Settings are the settings that a new stack needs.
	Settings []Setting

	kind  Kind
	files fs.FS
}

// Setting is one setting that a new project should have.
type Setting struct {
	Key         string
	Description string
	Default     string
	HasDefault  bool
	Secret      bool
}

// UnknownError reports that there is no template with a name.
type UnknownError struct {
	Name string
	kind Kind
}

func (e *UnknownError) Error() string {
	built := strings.Join(e.kind.names, ", ")
	if strings.Contains(e.Name, "://") || strings.HasPrefix(e.Name, "git@") {
		return fmt.Sprintf("templates are not downloaded: fetch %s yourself and write the path of its folder, or use one of %s", e.Name, built)
	}
	return fmt.Sprintf("unknown template %q: write one of %s, or the path of a folder with a %s (templates are not downloaded)", e.Name, built, e.kind.file)
}

// Names lists the built-in templates in the order in which they are offered.
func (k Kind) Names() []string { return k.names }

// Find returns the built-in template with a name or, for a path, the template in that folder. It returns an
// [*UnknownError] if there is none, or an error of a project file that cannot be read.
func (k Kind) Find(name string) (*Template, error) {
	for _, known := range k.names {
		if name == known {
			files, err := fs.Sub(builtin, k.folder+"/"+name)
			if err != nil {
				return nil, err
			}
			return k.read(name, files)
		}
	}
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return nil, &UnknownError{Name: name, kind: k}
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	// A template may be from a stranger: its links can lead to its own files only.
	root, err := os.OpenRoot(absolute)
	if err != nil {
		return nil, err
	}
	t, err := k.read(filepath.Base(absolute), root.FS())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a template: it has no %s", name, k.file)
	}
	return t, err
}

func (k Kind) read(name string, files fs.FS) (*Template, error) {
	text, err := fs.ReadFile(files, k.file)
	if err != nil {
		return nil, err
	}
	t := &Template{Name: name, kind: k, files: files}
	if err := t.describe(text); err != nil {
		return nil, fmt.Errorf("the template %s: %s: %w", name, k.file, err)
	}
	return t, nil
}
