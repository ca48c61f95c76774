package templates

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
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

// section is the part of a project file that describes the template.
type section struct {
	Description string    `yaml:"description"`
	Config      yaml.Node `yaml:"config"`
}

// settingText is a setting in a project file: only its default, or a mapping.
type settingText struct {
	Description string  `yaml:"description"`
	Default     *string `yaml:"default"`
	Secret      bool    `yaml:"secret"`
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

// personalize sets the name, the description and the runtime options in a project file, and removes the section "template". Without a
// name or options it leaves those as they are. Everything else stays unchanged, comments and empty lines included. It refuses a file in
// which entries are not whole lines.
func personalize(text string, p Project) (string, error) {
	wanted, err := entries(text)
	if err != nil {
		return "", err
	}
	edits := []edit{{key: "template"}, {key: "description"}}
	if p.Description != "" {
		edits[1].value = p.Description
	}
	if p.Name != "" {
		edits = append(edits, edit{"name", p.Name})
	}
	if len(p.RuntimeOptions) > 0 {
		runtime, err := withOptions(wanted["runtime"], p.RuntimeOptions)
		if err != nil {
			return "", err
		}
		edits = append(edits, edit{"runtime", runtime})
	}
	for _, e := range edits {
		if text, err = replaceEntry(text, e); err != nil {
			return "", err
		}
		if wanted[e.key] = e.value; e.value == nil {
			delete(wanted, e.key)
		}
	}
	if after, err := entries(text); err != nil || !reflect.DeepEqual(wanted, after) {
		return "", errors.New("the name cannot be set in this project file; begin each entry at the beginning of a line of its own")
	}
	return text, nil
}

// edit is a new value of a top-level entry. The value nil removes it.
type edit struct {
	key   string
	value any
}

// withOptions returns a runtime, which is a name or a mapping, with more options. "true" and "false" become booleans, as in a file.
func withOptions(runtime any, more map[string]string) (map[string]any, error) {
	out := map[string]any{"name": runtime}
	if m, ok := runtime.(map[string]any); ok {
		out = maps.Clone(m)
	}
	options := map[string]any{}
	switch old := out["options"].(type) {
	case nil:
	case map[string]any:
		options = maps.Clone(old)
	default:
		return nil, errors.New("the options of its runtime are not a mapping")
	}
	for name, text := range more {
		options[name] = text
		if text == "true" || text == "false" {
			options[name] = text == "true"
		}
	}
	out["options"] = options
	return out, nil
}

func entries(text string) (map[string]any, error) {
	m := map[string]any{}
	return m, yaml.Unmarshal([]byte(text), &m)
}

// unusualBreaks are characters that end a line in YAML, and in no program that edits or shows the file.
const unusualBreaks = "\r\u0085\u2028\u2029"

// replaceEntry replaces the lines of a top-level entry, or removes them. It inserts a missing entry before the first one.
func replaceEntry(text string, e edit) (string, error) {
	line := ""
	switch value := e.value.(type) {
	case nil:
	case string:
		quoted, err := quote(value)
		if err != nil {
			return "", err
		}
		line = e.key + ": " + quoted
	default:
		lines, err := yaml.Marshal(map[string]any{e.key: value})
		if err != nil {
			return "", err
		}
		line = string(lines)
	}
	if strings.ContainsAny(strings.ReplaceAll(text, "\r\n", "\n"), unusualBreaks) {
		return "", errors.New("the project file has unusual line breaks; end each line with LF or CR LF")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return "", errors.New("the project file is not a mapping")
	}
	if doc.Content[0].Style&yaml.FlowStyle != 0 {
		return "", errors.New("the project file is written in braces; write each entry on a line of its own")
	}
	lines := strings.SplitAfter(text, "\n")
	entries := doc.Content[0].Content
	for i := 0; i < len(entries); i += 2 {
		if entries[i].Value != e.key {
			continue
		}
		from, to := entries[i].Line-1, len(lines)
		if i+2 < len(entries) {
			to = entries[i+2].Line - 1
		}
		// Comments before the next entry belong to that entry.
		for to > from+1 && isRemark(lines[to-1]) {
			to--
		}
		return strings.Join(lines[:from], "") + line + strings.Join(lines[to:], ""), nil
	}
	first := 0
	if len(entries) > 0 {
		first = entries[0].Line - 1
	}
	return strings.Join(lines[:first], "") + line + strings.Join(lines[first:], ""), nil
}

// quote writes a text as YAML. For texts that begin or end with empty lines, and those with unusual line breaks, there is an unquoted
// form that would be read differently.
func quote(text string) (string, error) {
	var value any = text
	if strings.TrimSpace(text) != text || strings.ContainsAny(text, unusualBreaks) {
		value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
	}
	b, err := yaml.Marshal(value)
	return string(b), err
}

func isRemark(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "#")
}
