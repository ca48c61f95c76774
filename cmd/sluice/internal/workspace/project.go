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

	"go.yaml.in/yaml/v3"

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
	// Packages are the packages of the project, in the order of the file.
	Packages []Package
	// Declarations are the settings that the project declares, by key.
	Declarations []Declaration
	configures   bool // the program in the project file declares settings in a section of its own
	// Warnings are remarks about the content. They do not stop an operation.
	Warnings []string
}

// NoFile returns a project without a file, such as that of a stack elsewhere. The name may be "".
func NoFile(name string) *Project { return &Project{Name: name} }

// HasFile reports whether the project was read from a file.
func (p *Project) HasFile() bool { return p.Path != "" }

// Plugins are the plugins whose places are in the project file: those that it lists, and packages whose source is a directory or
// a git repository.
type Plugins struct{ Providers, Languages, Analyzers []NamedPlugin }

// NamedPlugin is the place of a plugin. An empty version matches every version.
type NamedPlugin struct {
	Name    string
	Path    string // absolute; "" for one in a git repository
	Version string
	// DownloadURL is that of a git repository, "" for a plugin on the disk.
	DownloadURL string
}

// FindProject returns the path of the project file of dir or of its nearest ancestor that has one, or an error that
// wraps [ErrNoProject].
func FindProject(dir string) (string, error) {
	path, err := source.FindProject(dir)
	if errors.Is(err, fs.ErrNotExist) {
		absolute, _ := filepath.Abs(dir) // an absolute path at the time of the call
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

func (pr *projectReader) read() {
	root, p := pr.doc.root(), pr.p
	p.Name = pr.text(root, "name", "write `name: my-project`")
	pr.checkName()
	pr.readRuntime()
	pr.checkRuntime()
	p.Main = pr.text(root, "main", "name a directory or file")
	p.Description = pr.text(root, "description", "")
	p.RequiredVersion = pr.text(root, "requiredPulumiVersion", "write a range of versions such as \">=3.0.0\"")
	p.StackConfigDir = pr.text(root, "stackConfigDir", "name a directory")
	if backend := pr.mapping(root, "backend"); backend != nil {
		p.BackendURL = pr.text(backend, "url", "write a URL such as file://~")
	}
	if options := pr.mapping(root, "options"); options != nil {
		refresh := pr.text(options, "refresh", "the only value is `always`")
		if refresh != "" && refresh != "always" {
			_, n := child(options, "refresh")
			pr.fail(n, fmt.Sprintf("`options.refresh` is %q", refresh), "the only value is `always`")
		}
		p.RefreshAlways = refresh == "always"
	}
	_, configuration := child(root, "configuration")
	p.configures = configuration != nil
	pr.readPlugins()
	p.Packages = pr.packages()
	pr.readPackages()
	pr.readConfig()
	pr.warnAboutMisspelt()
}

// IsProjectName reports whether name is a valid project name: one that Pulumi accepts and that is not a path.
func IsProjectName(name string) bool { return urn.IsName(name) && len(name) <= 100 }

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// ProjectNameFrom derives a project name from the name of a directory.
func ProjectNameFrom(directory string) string {
	name := strings.Trim(notInNames.ReplaceAllString(directory, "-"), "-.")
	return cmp.Or(name[:min(len(name), 100)], "project")
}

func (pr *projectReader) checkName() {
	if pr.err != nil {
		return
	}
	_, n := child(pr.doc.root(), "name")
	switch {
	case pr.p.Name == "":
		line := 1
		if n != nil {
			line = n.Line
		}
		pr.err = pr.doc.errorAt(line, "the project has no name", "add `name: my-project`")
	case !IsProjectName(pr.p.Name):
		pr.fail(n, fmt.Sprintf("%q is not a project name", pr.p.Name),
			"use up to 100 letters, digits, underscores, periods and hyphens")
	}
}

func (pr *projectReader) readRuntime() {
	_, n := child(pr.doc.root(), "runtime")
	if pr.err != nil || n == nil || isNull(resolve(n)) {
		return
	}
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		pr.p.Runtime = pr.text(pr.doc.root(), "runtime", "write `runtime: nodejs` or another language")
		return
	}
	pr.p.Runtime = pr.text(n, "name", "write `name: nodejs` or another language")
	if pr.p.Runtime == "" && pr.err == nil {
		pr.fail(n, "`runtime` has no `name`", "add `name: nodejs` or another language to it")
		return
	}
	pr.warnAboutOthers(n, "`runtime`", "name", "options")
	if options := pr.mapping(n, "options"); options != nil {
		if known := optionNames(pr.p.Runtime); known != nil {
			pr.warnAboutOthers(options, "the options of the runtime "+pr.p.Runtime, known...)
		}
		v, err := pr.doc.value(options)
		if err != nil {
			pr.err = err
			return
		}
		pr.p.RuntimeOptions, _ = plainValue(v).(map[string]any)
	}
}

// checkRuntime refuses a runtime that cannot be the name of a language plugin.
func (pr *projectReader) checkRuntime() {
	if pr.err != nil || pr.p.Runtime == "" {
		return
	}
	if err := urn.CheckPackageName("runtime", pr.p.Runtime); err != nil {
		_, n := child(pr.doc.root(), "runtime")
		pr.fail(n, err.Error(), "")
	}
}

func (pr *projectReader) readPlugins() {
	plugins := pr.mapping(pr.doc.root(), "plugins")
	if plugins == nil {
		return
	}
	pr.warnAboutOthers(plugins, "`plugins`", "providers", "languages", "analyzers")
	pr.p.Plugins = Plugins{
		Providers: pr.pluginList(plugins, "providers"),
		Languages: pr.pluginList(plugins, "languages"),
		Analyzers: pr.pluginList(plugins, "analyzers"),
	}
}

func (pr *projectReader) pluginList(plugins *yaml.Node, key string) []NamedPlugin {
	_, n := child(plugins, key)
	if pr.err != nil || n == nil || isNull(resolve(n)) {
		return nil
	}
	n = resolve(n)
	if n.Kind != yaml.SequenceNode {
		pr.fail(n, fmt.Sprintf("`plugins.%s` must be a list, not %s", key, describe(n)), "")
		return nil
	}
	var out []NamedPlugin
	for _, entry := range n.Content {
		entry = resolve(entry)
		if entry.Kind != yaml.MappingNode {
			pr.fail(entry, fmt.Sprintf("a plugin in `plugins.%s` must be a mapping, not %s", key, describe(entry)), "write `name` and `path`")
			return nil
		}
		pr.warnAboutOthers(entry, "`plugins."+key+"`", "name", "path", "version")
		plugin := NamedPlugin{
			Name:    pr.text(entry, "name", ""),
			Path:    pr.text(entry, "path", ""),
			Version: pr.text(entry, "version", ""),
		}
		if pr.err == nil && (plugin.Name == "" || plugin.Path == "") {
			pr.fail(entry, fmt.Sprintf("a plugin in `plugins.%s` lacks `name` or `path`", key), "write both")
			return nil
		}
		if err := urn.CheckPluginName(plugin.Name); pr.err == nil && err != nil {
			pr.fail(entry, err.Error(), "write the location of the plugin into `path`")
			return nil
		}
		if !filepath.IsAbs(plugin.Path) {
			plugin.Path = filepath.Join(pr.p.Directory(), plugin.Path)
		}
		out = append(out, plugin)
	}
	return out
}

// text returns a text field, or "" if it is absent.
func (pr *projectReader) text(mapping *yaml.Node, key, advice string) string {
	_, n := child(mapping, key)
	if pr.err != nil || n == nil {
		return ""
	}
	n = resolve(n)
	if isNull(n) {
		return ""
	}
	if n.Kind != yaml.ScalarNode {
		pr.fail(n, fmt.Sprintf("`%s` must be a text, not %s", key, describe(n)), advice)
		return ""
	}
	return n.Value
}

// mapping returns a field that is a mapping, or nil if it is absent.
func (pr *projectReader) mapping(parent *yaml.Node, key string) *yaml.Node {
	_, n := child(parent, key)
	if pr.err != nil || n == nil || isNull(resolve(n)) {
		return nil
	}
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		pr.fail(n, fmt.Sprintf("`%s` must be a mapping, not %s", key, describe(n)), "")
		return nil
	}
	return n
}

func (pr *projectReader) fail(n *yaml.Node, problem, advice string) {
	if pr.err == nil {
		pr.err = pr.doc.errorAt(n.Line, problem, advice)
	}
}
