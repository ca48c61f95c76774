package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/text/similar"
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
	r := projectReader{fields: &fieldReader{doc: doc}, p: &Project{Path: path}}
	r.read()
	return r.p, r.fields.err
}

// Directory returns the directory of the project file, "." if there is none.
func (p *Project) Directory() string { return filepath.Dir(p.Path) }

// StackFilePath returns the path of the configuration file of a stack, "" if the project has no file.
func (p *Project) StackFilePath(stack string) string {
	if !p.HasFile() {
		return ""
	}
	dir := filepath.Dir(p.Path)
	if p.StackConfigDir != "" {
		dir = filepath.Join(dir, p.StackConfigDir)
	}
	return filepath.Join(dir, p.StackFileName(stack))
}

// StackFileName returns the name of the configuration file of a stack.
func (p *Project) StackFileName(stack string) string {
	return "Pulumi." + strings.ReplaceAll(stack, "/", "-") + cmp.Or(filepath.Ext(p.Path), ".yaml")
}

// Undeclared returns a remark about a setting that the project does not declare, with similar names of declared ones; "" if there is
// nothing to remark. Pulumi accepts such settings, and many projects declare none or only a few of theirs, so it is not an error.
// Settings in other namespaces belong to providers.
func (p *Project) Undeclared(k Key) string {
	if k.Namespace != p.Name || p.declaresElsewhere() {
		return ""
	}
	var own []string
	for _, d := range p.Declarations {
		if d.Key == k {
			return ""
		}
		if d.Key.Namespace == p.Name {
			own = append(own, d.Key.Name)
		}
	}
	if len(own) == 0 {
		return ""
	}
	text := fmt.Sprintf("the setting %q is not declared in %s", k.Name, filepath.Base(p.Path))
	if near := similar.Name(k.Name, own); near != "" {
		return text + fmt.Sprintf("; did you mean %q?", near)
	}
	return text + "; it declares " + strings.Join(own, ", ")
}

// declaresElsewhere reports whether the program may declare settings too: a YAML program does so in a file of its own, or in a
// section with another name.
func (p *Project) declaresElsewhere() bool {
	if p.Runtime != "yaml" {
		return false
	}
	if p.configures || p.Main != "" {
		return true
	}
	for _, name := range []string{"Main.yaml", "Main.yml", "Main.json"} {
		if _, err := os.Stat(filepath.Join(p.Directory(), name)); err == nil {
			return true
		}
	}
	return false
}

// Check returns an error if a setting does not match the project's declaration, as [Validate] does for all settings. decrypted
// returns the plain form of a value.
func (p *Project) Check(stack string, k Key, v Value, decrypted func(Value) (Value, error)) error {
	for _, d := range p.Declarations {
		if d.Key == k {
			return d.check(p, stack, v, decrypted)
		}
	}
	return nil
}

// projectReader reads a project file until the first fault.
type projectReader struct {
	fields *fieldReader
	p      *Project
}

func (pr *projectReader) read() {
	root, p := pr.fields.doc.root(), pr.p
	p.Name = pr.fields.text(root, "name", "write `name: my-project`")
	pr.checkName()
	pr.readRuntime()
	pr.checkRuntime()
	p.Main = pr.fields.text(root, "main", "name a directory or file")
	p.Description = pr.fields.text(root, "description", "")
	p.RequiredVersion = pr.fields.text(root, "requiredPulumiVersion", "write a range of versions such as \">=3.0.0\"")
	p.StackConfigDir = pr.fields.text(root, "stackConfigDir", "name a directory")
	if backend := pr.fields.mapping(root, "backend"); backend != nil {
		pr.fields.refuseOthers(backend, "`backend`", "url")
		p.BackendURL = pr.fields.text(backend, "url", "write a URL such as file://~")
	}
	if options := pr.fields.mapping(root, "options"); options != nil {
		pr.fields.refuseOthers(options, "`options`", "refresh")
		refresh := pr.fields.text(options, "refresh", "the only value is `always`")
		if refresh != "" && refresh != "always" {
			_, n := child(options, "refresh")
			pr.fields.fail(n, fmt.Sprintf("`options.refresh` is %q", refresh), "the only value is `always`")
		}
		p.RefreshAlways = refresh == "always"
	}
	_, configuration := child(root, "configuration")
	p.configures = configuration != nil
	pr.readPlugins()
	packages := &packageReader{pr.fields, p}
	p.Packages = packages.all()
	packages.places()
	pr.readConfig()
	pr.warnAboutMisspelt()
	p.Warnings = pr.fields.warnings
}

// IsProjectName reports whether name is a valid project name: one that Pulumi accepts and that is not a path.
func IsProjectName(name string) bool { return urn.IsName(name) && len(name) <= 100 }

var notInNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_.-]+`) })

// ProjectNameFrom derives a project name from the name of a directory.
func ProjectNameFrom(directory string) string {
	name := strings.Trim(notInNames().ReplaceAllString(directory, "-"), "-.")
	return cmp.Or(name[:min(len(name), 100)], "project")
}

func (pr *projectReader) checkName() {
	if pr.fields.err != nil {
		return
	}
	_, n := child(pr.fields.doc.root(), "name")
	switch {
	case pr.p.Name == "":
		line := 1
		if n != nil {
			line = n.Line
		}
		pr.fields.err = pr.fields.doc.errorAt(line, "the project has no name", "add `name: my-project`")
	case !IsProjectName(pr.p.Name):
		pr.fields.fail(n, fmt.Sprintf("%q is not a project name", pr.p.Name),
			"use up to 100 letters, digits, underscores, periods and hyphens")
	}
}

func (pr *projectReader) readRuntime() {
	_, n := child(pr.fields.doc.root(), "runtime")
	if pr.fields.err != nil || n == nil || isNull(resolve(n)) {
		return
	}
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		pr.p.Runtime = pr.fields.text(pr.fields.doc.root(), "runtime", "write `runtime: nodejs` or another language")
		return
	}
	pr.p.Runtime = pr.fields.text(n, "name", "write `name: nodejs` or another language")
	if pr.p.Runtime == "" && pr.fields.err == nil {
		pr.fields.fail(n, "`runtime` has no `name`", "add `name: nodejs` or another language to it")
		return
	}
	pr.fields.warnAboutOthers(n, "`runtime`", "name", "options")
	if options := pr.fields.mapping(n, "options"); options != nil {
		if known := optionNames(pr.p.Runtime); known != nil {
			pr.fields.warnAboutOthers(options, "the options of the runtime "+pr.p.Runtime, known...)
		}
		v, err := pr.fields.doc.value(options)
		if err != nil {
			pr.fields.err = err
			return
		}
		pr.p.RuntimeOptions, _ = plainValue(v).(map[string]any)
	}
}

// checkRuntime refuses a runtime that cannot be the name of a language plugin.
func (pr *projectReader) checkRuntime() {
	if pr.fields.err != nil || pr.p.Runtime == "" {
		return
	}
	if err := urn.CheckPackageName("runtime", pr.p.Runtime); err != nil {
		_, n := child(pr.fields.doc.root(), "runtime")
		pr.fields.fail(n, err.Error(), "")
	}
}

func (pr *projectReader) readPlugins() {
	plugins := pr.fields.mapping(pr.fields.doc.root(), "plugins")
	if plugins == nil {
		return
	}
	pr.fields.warnAboutOthers(plugins, "`plugins`", "providers", "languages", "analyzers")
	pr.p.Plugins = Plugins{
		Providers: pr.pluginList(plugins, "providers"),
		Languages: pr.pluginList(plugins, "languages"),
		Analyzers: pr.pluginList(plugins, "analyzers"),
	}
}

func (pr *projectReader) pluginList(plugins *yaml.Node, key string) []NamedPlugin {
	_, n := child(plugins, key)
	if pr.fields.err != nil || n == nil || isNull(resolve(n)) {
		return nil
	}
	n = resolve(n)
	if n.Kind != yaml.SequenceNode {
		pr.fields.fail(n, fmt.Sprintf("`plugins.%s` must be a list, not %s", key, describe(n)), "")
		return nil
	}
	var out []NamedPlugin
	for _, entry := range n.Content {
		entry = resolve(entry)
		if entry.Kind != yaml.MappingNode {
			pr.fields.fail(entry, fmt.Sprintf("a plugin in `plugins.%s` must be a mapping, not %s", key, describe(entry)), "write `name` and `path`")
			return nil
		}
		pr.fields.warnAboutOthers(entry, "`plugins."+key+"`", "name", "path", "version")
		plugin := NamedPlugin{
			Name:    pr.fields.text(entry, "name", ""),
			Path:    pr.fields.text(entry, "path", ""),
			Version: pr.fields.text(entry, "version", ""),
		}
		if pr.fields.err == nil && (plugin.Name == "" || plugin.Path == "") {
			pr.fields.fail(entry, fmt.Sprintf("a plugin in `plugins.%s` lacks `name` or `path`", key), "write both")
			return nil
		}
		if err := urn.CheckPluginName(plugin.Name); pr.fields.err == nil && err != nil {
			pr.fields.fail(entry, err.Error(), "write the location of the plugin into `path`")
			return nil
		}
		if !filepath.IsAbs(plugin.Path) {
			plugin.Path = filepath.Join(pr.p.Directory(), plugin.Path)
		}
		out = append(out, plugin)
	}
	return out
}

func (pr *projectReader) readConfig() {
	_, n := child(pr.fields.doc.root(), "config")
	if pr.fields.err != nil || n == nil || isNull(resolve(n)) {
		return
	}
	n = resolve(n)
	if n.Kind == yaml.ScalarNode { // the obsolete spelling of stackConfigDir
		if pr.p.StackConfigDir != "" {
			pr.fields.fail(n, "`config` is a text and `stackConfigDir` is set as well", "remove `config`")
			return
		}
		pr.p.StackConfigDir = n.Value
		return
	}
	if n.Kind != yaml.MappingNode {
		pr.fields.fail(n, "`config` must be a mapping of keys to values, not "+describe(n), "")
		return
	}
	pr.p.Declarations = (&declarationReader{fields: pr.fields, project: pr.p.Name}).all(n)
}

// projectFields returns Pulumi's top-level fields of a project file.
func projectFields() []string {
	return []string{
		"name", "runtime", "main", "description", "author", "website", "license", "config", "stackConfigDir", "backend", "options", "plugins",
		"packages", "template", "requiredPulumiVersion",
	}
}

// isOfPrograms reports whether a field of a project file belongs to a YAML program, whose evaluator warns about misspelt ones, or to a
// component or generated SDK.
func isOfPrograms(field string) bool {
	known := []string{"pulumi", "configuration", "variables", "resources", "outputs", "components", "namespace", "version", "sdks", "artifacts"}
	return slices.Contains(known, strings.ToLower(field))
}

// warnAboutMisspelt warns about top-level fields whose names are similar to those of a project. It accepts all others as notes of people
// and of other tools.
func (pr *projectReader) warnAboutMisspelt() {
	root := pr.fields.doc.root()
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := resolve(root.Content[i])
		near := similar.Name(key.Value, projectFields())
		if near == "" || near == key.Value || isOfPrograms(key.Value) {
			continue
		}
		pr.fields.warnings = append(pr.fields.warnings, fmt.Sprintf("%s:%d: `%s` is not used; did you mean `%s`?", pr.p.Path, key.Line, key.Value, near))
	}
}

// optionNames returns the options of a runtime, nil if they are unknown, as for a language plugin.
func optionNames(runtime string) []string {
	switch runtime {
	case "nodejs":
		return []string{"nodeargs", "packagemanager", "tsconfig", "typescript"}
	case "python":
		return []string{"toolchain", "typechecker", "virtualenv"}
	case "go":
		return []string{"binary", "buildTarget"}
	case "java":
		return []string{"binary", "use-executor"}
	case "yaml":
		return []string{"compiler"}
	}
	return nil
}
