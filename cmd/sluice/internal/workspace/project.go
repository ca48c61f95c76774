package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/urn"
)

// Project is a parsed project file (state.md 6.1).
type Project struct {
	Path string // of the file, absolute
	Name string
	// Runtime names the language; "" if the file names none. RuntimeOptions are passed to the language plugin.
	Runtime        string
	RuntimeOptions map[string]any
	// Main is the program's directory or file, relative to the project file; "" means the project's directory.
	Main           string
	Description    string
	StackConfigDir string // relative to the project file
	BackendURL     string
	// RefreshAlways is true if the project requests a refresh before each operation.
	RefreshAlways bool
	// RequiredVersion is the range of Pulumi versions that the project accepts, "" for any.
	RequiredVersion string
	Plugins         Plugins
	// Packages are those that the project names, in the order of the file.
	Packages []Package
	// Declarations are the settings that the project declares, by key.
	Declarations []Declaration
	configures   bool // the program, which is in the project file, declares settings in a section of its own
	// Warnings are remarks about the content. They do not stop an operation.
	Warnings []string
}

// NoFile returns a project of which at most the name is known, because its file is not here.
func NoFile(name string) *Project { return &Project{Name: name} }

// HasFile reports whether the project was read from a file.
func (p *Project) HasFile() bool { return p.Path != "" }

// Plugins are the plugins whose places the project names: those that it lists, and packages whose source is a directory or a git
// repository.
type Plugins struct{ Providers, Languages, Analyzers []NamedPlugin }

// NamedPlugin is the place of a plugin. An empty version matches every version.
type NamedPlugin struct {
	Name    string
	Path    string // absolute; "" for one that is in a git repository
	Version string
	// DownloadURL is that of a git repository, "" for a plugin on the disk.
	DownloadURL string
}

// FindProject returns the path of the project file of dir or of its nearest ancestor that has one, or an error that
// wraps [ErrNoProject].
func FindProject(dir string) (string, error) {
	path, err := source.FindProject(dir)
	if errors.Is(err, fs.ErrNotExist) {
		absolute, _ := filepath.Abs(dir) // which it was then
		return "", fmt.Errorf("%w in %s or any directory above it; change to the project's directory or name it with --cwd", ErrNoProject, absolute)
	}
	return path, err
}

// ReadProject reads and validates a project file.
func ReadProject(path string) (*Project, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoProject, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the project file: %w", err)
	}
	return ParseProject(path, data)
}

// ParseProject parses the content of a project file. It uses path only in errors and to resolve relative paths.
func ParseProject(path string, data []byte) (*Project, error) {
	doc, err := parseDocument(path, data)
	if err != nil {
		return nil, err
	}
	r := projectReader{doc: doc, p: &Project{Path: path}}
	r.read()
	return r.p, r.err
}

// Directory returns the directory of the project file, "." if there is none.
func (p *Project) Directory() string { return filepath.Dir(p.Path) }

// projectReader reads fields until the first fault.
type projectReader struct {
	doc *document
	p   *Project
	err error
}

func (r *projectReader) read() {
	root, p := r.doc.root(), r.p
	p.Name = r.text(root, "name", "write `name: my-project`")
	r.checkName()
	r.readRuntime()
	r.checkRuntime()
	p.Main = r.text(root, "main", "name a directory or file")
	p.Description = r.text(root, "description", "")
	p.RequiredVersion = r.text(root, "requiredPulumiVersion", "write a range of versions such as \">=3.0.0\"")
	p.StackConfigDir = r.text(root, "stackConfigDir", "name a directory")
	if backend := r.mapping(root, "backend"); backend != nil {
		p.BackendURL = r.text(backend, "url", "write a URL such as file://~")
	}
	if options := r.mapping(root, "options"); options != nil {
		refresh := r.text(options, "refresh", "the only value is `always`")
		if refresh != "" && refresh != "always" {
			_, n := child(options, "refresh")
			r.fail(n, fmt.Sprintf("`options.refresh` is %q", refresh), "the only value is `always`")
		}
		p.RefreshAlways = refresh == "always"
	}
	_, configuration := child(root, "configuration")
	p.configures = configuration != nil
	r.readPlugins()
	p.Packages = r.packages()
	r.readPackages()
	r.readConfig()
	r.warnAboutMisspelt()
}

// IsProjectName reports whether name is a valid project name: one that Pulumi accepts and that is no folder.
func IsProjectName(name string) bool { return urn.IsName(name) && len(name) <= 100 }

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// ProjectNameFrom makes a project name from the name of a directory.
func ProjectNameFrom(directory string) string {
	name := strings.Trim(notInNames.ReplaceAllString(directory, "-"), "-.")
	return cmp.Or(name[:min(len(name), 100)], "project")
}

func (r *projectReader) checkName() {
	if r.err != nil {
		return
	}
	_, n := child(r.doc.root(), "name")
	switch {
	case r.p.Name == "":
		line := 1
		if n != nil {
			line = n.Line
		}
		r.err = r.doc.errorAt(line, "the project has no name", "add `name: my-project`")
	case !IsProjectName(r.p.Name):
		r.fail(n, fmt.Sprintf("%q is not a project name", r.p.Name),
			"use up to 100 letters, digits, underscores, periods and hyphens")
	}
}

func (r *projectReader) readRuntime() {
	_, n := child(r.doc.root(), "runtime")
	if r.err != nil || n == nil || isNull(resolve(n)) {
		return
	}
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		r.p.Runtime = r.text(r.doc.root(), "runtime", "write `runtime: nodejs` or another language")
		return
	}
	r.p.Runtime = r.text(n, "name", "write `name: nodejs` or another language")
	if r.p.Runtime == "" && r.err == nil {
		r.fail(n, "`runtime` has no `name`", "add `name: nodejs` or another language to it")
		return
	}
	r.warnAboutOthers(n, "`runtime`", "name", "options")
	if options := r.mapping(n, "options"); options != nil {
		if known := optionNames(r.p.Runtime); known != nil {
			r.warnAboutOthers(options, "the options of the runtime "+r.p.Runtime, known...)
		}
		v, err := r.doc.value(options)
		if err != nil {
			r.err = err
			return
		}
		r.p.RuntimeOptions, _ = plainValue(v).(map[string]any)
	}
}

// checkRuntime refuses a runtime that no language plugin can have the name of.
func (r *projectReader) checkRuntime() {
	if r.err != nil || r.p.Runtime == "" {
		return
	}
	if err := urn.CheckPackageName("runtime", r.p.Runtime); err != nil {
		_, n := child(r.doc.root(), "runtime")
		r.fail(n, err.Error(), "")
	}
}

func (r *projectReader) readPlugins() {
	plugins := r.mapping(r.doc.root(), "plugins")
	if plugins == nil {
		return
	}
	r.warnAboutOthers(plugins, "`plugins`", "providers", "languages", "analyzers")
	r.p.Plugins = Plugins{
		Providers: r.pluginList(plugins, "providers"),
		Languages: r.pluginList(plugins, "languages"),
		Analyzers: r.pluginList(plugins, "analyzers"),
	}
}

func (r *projectReader) pluginList(plugins *yaml.Node, key string) []NamedPlugin {
	_, n := child(plugins, key)
	if r.err != nil || n == nil || isNull(resolve(n)) {
		return nil
	}
	n = resolve(n)
	if n.Kind != yaml.SequenceNode {
		r.fail(n, fmt.Sprintf("`plugins.%s` must be a list, not %s", key, describe(n)), "")
		return nil
	}
	var out []NamedPlugin
	for _, entry := range n.Content {
		entry = resolve(entry)
		if entry.Kind != yaml.MappingNode {
			r.fail(entry, fmt.Sprintf("a plugin in `plugins.%s` must be a mapping, not %s", key, describe(entry)), "write `name` and `path`")
			return nil
		}
		r.warnAboutOthers(entry, "`plugins."+key+"`", "name", "path", "version")
		plugin := NamedPlugin{
			Name:    r.text(entry, "name", ""),
			Path:    r.text(entry, "path", ""),
			Version: r.text(entry, "version", ""),
		}
		if r.err == nil && (plugin.Name == "" || plugin.Path == "") {
			r.fail(entry, fmt.Sprintf("a plugin in `plugins.%s` lacks `name` or `path`", key), "write both")
			return nil
		}
		if err := urn.CheckPluginName(plugin.Name); r.err == nil && err != nil {
			r.fail(entry, err.Error(), "write the location of the plugin into `path`")
			return nil
		}
		if !filepath.IsAbs(plugin.Path) {
			plugin.Path = filepath.Join(r.p.Directory(), plugin.Path)
		}
		out = append(out, plugin)
	}
	return out
}

// text returns a text field, or "" if it is absent.
func (r *projectReader) text(mapping *yaml.Node, key, advice string) string {
	_, n := child(mapping, key)
	if r.err != nil || n == nil {
		return ""
	}
	n = resolve(n)
	if isNull(n) {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		r.fail(n, fmt.Sprintf("`%s` must be a text, not %s", key, describe(n)), advice)
		return ""
	}
	return n.Value
}

// mapping returns a field that is a mapping, or nil if it is absent.
func (r *projectReader) mapping(parent *yaml.Node, key string) *yaml.Node {
	_, n := child(parent, key)
	if r.err != nil || n == nil || isNull(resolve(n)) {
		return nil
	}
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		r.fail(n, fmt.Sprintf("`%s` must be a mapping, not %s", key, describe(n)), "")
		return nil
	}
	return n
}

func (r *projectReader) fail(n *yaml.Node, problem, advice string) {
	if r.err == nil {
		r.err = r.doc.errorAt(n.Line, problem, advice)
	}
}
