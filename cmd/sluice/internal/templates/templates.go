package templates

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

//go:embed all:builtin all:policies all:packages
var builtin embed.FS

// Kind is the kind of a template: [Projects], [Policies] or [Packages].
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

// Packages returns the templates for packages of components.
func Packages() Kind {
	return Kind{file: "PulumiPlugin.yaml", folder: "packages", names: []string{"component-yaml", "component-nodejs", "component-python"}}
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

// describe reads the description and the settings from the project file.
func (t *Template) describe(text []byte) error {
	var file struct {
		Description string    `yaml:"description"`
		Runtime     yaml.Node `yaml:"runtime"`
		Template    section   `yaml:"template"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return err
	}
	if err := t.readRuntime(&file.Runtime); err != nil {
		return fmt.Errorf("runtime: %w", err)
	}
	t.Description = file.Template.Description
	if file.Description != "${DESCRIPTION}" {
		t.ProjectDescription = file.Description
	}
	t.ProjectDescription = cmp.Or(t.ProjectDescription, t.Description)
	config := file.Template.Config
	for i := 0; i+1 < len(config.Content); i += 2 {
		s := Setting{Key: config.Content[i].Value}
		value := config.Content[i+1]
		if value.Kind == yaml.ScalarNode {
			s.Default, s.HasDefault = value.Value, true
		} else {
			var long settingText
			if err := value.Decode(&long); err != nil {
				return fmt.Errorf("template.config.%s: %w", s.Key, err)
			}
			s.Description, s.Secret = long.Description, long.Secret
			if long.Default != nil {
				s.Default, s.HasDefault = *long.Default, true
			}
		}
		t.Settings = append(t.Settings, s)
	}
	return nil
}

// readRuntime reads the runtime, which is a name or a mapping.
func (t *Template) readRuntime(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		t.Runtime = n.Value
		return nil
	}
	var long struct {
		Name    string         `yaml:"name"`
		Options map[string]any `yaml:"options"`
	}
	err := n.Decode(&long)
	t.Runtime, t.RuntimeOptions = long.Name, slices.Sorted(maps.Keys(long.Options))
	return err
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
