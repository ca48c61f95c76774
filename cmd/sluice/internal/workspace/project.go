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

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/providers/plugin"
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
	if near := source.Near(k.Name, own); near != "" {
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

var typeNames = []string{"string", "integer", "boolean", "array", "object"}

func (pr *projectReader) readConfig() {
	_, n := child(pr.doc.root(), "config")
	if pr.err != nil || n == nil || isNull(resolve(n)) {
		return
	}
	n = resolve(n)
	if n.Kind == yaml.ScalarNode { // the obsolete spelling of stackConfigDir
		if pr.p.StackConfigDir != "" {
			pr.fail(n, "`config` is a text and `stackConfigDir` is set as well", "remove `config`")
			return
		}
		pr.p.StackConfigDir = n.Value
		return
	}
	if n.Kind != yaml.MappingNode {
		pr.fail(n, "`config` must be a mapping of keys to values, not "+describe(n), "")
		return
	}
	for i := 0; i+1 < len(n.Content) && pr.err == nil; i += 2 {
		pr.readDeclaration(resolve(n.Content[i]), resolve(n.Content[i+1]))
	}
	slices.SortFunc(pr.p.Declarations, func(a, b Declaration) int { return CompareKeys(a.Key, b.Key) })
	for i := 1; i < len(pr.p.Declarations); i++ {
		if d := pr.p.Declarations[i]; d.Key == pr.p.Declarations[i-1].Key && pr.err == nil {
			pr.err = pr.doc.errorAt(d.Line, fmt.Sprintf("the setting %s is declared twice", d.Key), "remove one of the declarations")
		}
	}
}

func (pr *projectReader) readDeclaration(name, n *yaml.Node) {
	key, err := ParseKey(name.Value, pr.p.Name)
	if err != nil {
		pr.fail(name, err.Error(), "")
		return
	}
	d := Declaration{Key: key, Line: name.Line}
	if n.Kind != yaml.MappingNode {
		pr.bareDeclaration(&d, n)
	} else {
		pr.fullDeclaration(&d, n)
	}
	if pr.err == nil {
		pr.p.Declarations = append(pr.p.Declarations, d)
	}
}

// bareDeclaration reads `key: value`: a default in the project's namespace, a value in other namespaces.
func (pr *projectReader) bareDeclaration(d *Declaration, n *yaml.Node) {
	v, err := pr.doc.value(n)
	if err != nil {
		pr.err = err
		return
	}
	if d.Key.Namespace == pr.p.Name {
		d.Default, d.HasDefault = v, !isNull(n)
		return
	}
	d.Value, d.HasValue = v, true
}

func (pr *projectReader) fullDeclaration(d *Declaration, n *yaml.Node) {
	d.Description = pr.text(n, "description", "")
	d.Type = pr.readType(n, d.Key.String())
	d.Default, d.HasDefault = pr.readValue(n, "default")
	d.Value, d.HasValue = pr.readValue(n, "value")
	if secret := pr.text(n, "secret", "write true or false"); secret != "" {
		d.Secret = secret == "true"
	}
	if pr.err != nil {
		return
	}
	own := d.Key.Namespace == pr.p.Name
	switch {
	case !own && (d.Type != nil || d.HasDefault):
		pr.fail(n, fmt.Sprintf("%s belongs to another namespace, so it can have a `value` but no `type` or `default`", d.Key), "")
	case !own && !d.HasValue:
		pr.fail(n, fmt.Sprintf("%s has no `value`", d.Key), "write `value: ...`")
	case d.HasDefault && d.HasValue:
		pr.fail(n, fmt.Sprintf("%s has both `default` and `value`", d.Key), "keep one of them")
	case d.HasDefault && d.Type != nil && !d.Type.accepts(d.Default):
		pr.fail(n, fmt.Sprintf("the default of %s is not of the type %s", d.Key, d.Type), "")
	}
}

func (pr *projectReader) readValue(n *yaml.Node, key string) (Value, bool) {
	_, v := child(n, key)
	if v == nil || pr.err != nil {
		return nil, false
	}
	value, err := pr.doc.value(v)
	if err != nil {
		pr.err = err
	}
	return value, !isNull(resolve(v))
}

func (pr *projectReader) readType(n *yaml.Node, what string) *Type {
	name := pr.text(n, "type", "write one of "+strings.Join(typeNames, ", "))
	if name == "" || pr.err != nil {
		return nil
	}
	_, at := child(n, "type")
	if !slices.Contains(typeNames, name) {
		pr.fail(at, fmt.Sprintf("%s has the unknown type %q", what, name), "write one of "+strings.Join(typeNames, ", "))
		return nil
	}
	t := &Type{Name: name}
	if name != "array" {
		return t
	}
	items := pr.mapping(n, "items")
	if items == nil {
		pr.fail(at, what+" is an array without `items`", "write `items: {type: string}`")
		return nil
	}
	if t.Items = pr.readType(items, "the elements of "+what); t.Items == nil {
		pr.fail(items, "the elements of "+what+" have no type", "write `items: {type: string}`")
		return nil
	}
	return t
}

// warnAboutOthers warns about the fields of a mapping that nothing reads.
func (pr *projectReader) warnAboutOthers(mapping *yaml.Node, what string, known ...string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := resolve(mapping.Content[i])
		if slices.Contains(known, key.Value) || key.Value == "<<" {
			continue
		}
		advice := fmt.Sprintf("what is known: `%s`", strings.Join(known, "`, `"))
		if near := source.Near(key.Value, known); near != "" {
			advice = fmt.Sprintf("did you mean `%s`?", near)
		}
		pr.p.Warnings = append(pr.p.Warnings, fmt.Sprintf("%s:%d: `%s` in %s is not used; %s", pr.doc.path, key.Line, key.Value, what, advice))
	}
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
	root := pr.doc.root()
	for i := 0; i+1 < len(root.Content); i += 2 {
		key := resolve(root.Content[i])
		near := source.Near(key.Value, projectFields())
		if near == "" || near == key.Value || isOfPrograms(key.Value) {
			continue
		}
		pr.p.Warnings = append(pr.p.Warnings, fmt.Sprintf("%s:%d: `%s` is not used; did you mean `%s`?", pr.p.Path, key.Line, key.Value, near))
	}
}

// packages reads the packages of the file.
func (pr *projectReader) packages() []Package {
	entries := pr.mapping(pr.doc.root(), "packages")
	var list []Package
	for i := 0; entries != nil && i+1 < len(entries.Content) && pr.err == nil; i += 2 {
		p := pr.pkg(entries, entries.Content[i].Value)
		pr.checkPackage(entries.Content[i], p)
		list = append(list, p)
	}
	return list
}

// checkPackage refuses a package without a source, and one of a plugin with an invalid version. The version of a package in a git
// repository may be a commit.
func (pr *projectReader) checkPackage(at *yaml.Node, p Package) {
	if p.Source == "" {
		pr.fail(at, fmt.Sprintf("the package %q has no source", p.Name), "name a plugin such as `random@4.0.0`, or a directory such as `./components`")
		return
	}
	if _, err := semver.NewVersion(p.Version); p.Version != "" && err != nil && urn.CheckPluginName(p.Source) == nil {
		pr.fail(at, fmt.Sprintf("%q is not a version of the package %q", p.Version, p.Name), "write one such as 1.2.3")
	}
}

// splitVersion splits the short form of a package after its source. The path of a folder may contain an "@".
func splitVersion(text string) (source, version string) {
	if at := strings.LastIndexByte(text, '@'); at > strings.LastIndexByte(text, '/') {
		return text[:at], strings.TrimPrefix(text[at+1:], "v")
	}
	return text, ""
}

func (pr *projectReader) pkg(entries *yaml.Node, name string) Package {
	_, n := child(entries, name)
	if n = resolve(n); n.Kind != yaml.MappingNode {
		p := Package{Name: name}
		p.Source, p.Version = splitVersion(pr.text(entries, name, "name a plugin or a directory"))
		return p
	}
	pr.warnAboutOthers(n, fmt.Sprintf("the package %q", name), "source", "version", "parameters", "extensions", "pluginDownloadURL")
	p := Package{
		Name: name, Source: pr.text(n, "source", "name a plugin or a directory"), Version: strings.TrimPrefix(pr.text(n, "version", ""), "v"),
		Server: pr.text(n, "pluginDownloadURL", "write a URL"),
	}
	p.Parameters, p.Extensions = pr.parameters(n, name, "parameters"), pr.parameters(n, name, "extensions")
	if len(p.Parameters) > 0 && len(p.Extensions) > 0 {
		pr.fail(n, fmt.Sprintf("the package %q has both `parameters` and `extensions`", name), "leave one of them out")
	}
	return p
}

// parameters reads a list of texts of a package.
func (pr *projectReader) parameters(entry *yaml.Node, name, key string) []string {
	_, list := child(entry, key)
	if list = resolve(list); list == nil || isNull(list) || pr.err != nil {
		return nil
	}
	if list.Kind != yaml.SequenceNode {
		pr.fail(list, fmt.Sprintf("the `%s` of the package %q must be a list, not %s", key, name, describe(list)), "")
		return nil
	}
	var texts []string
	for _, one := range list.Content {
		if one = resolve(one); one.Kind != yaml.ScalarNode || isNull(one) {
			pr.fail(one, fmt.Sprintf("one of the `%s` of the package %q must be a text, not %s", key, name, describe(one)), "")
			return nil
		}
		texts = append(texts, one.Value)
	}
	return texts
}

// readPackages adds the packages whose source is a directory or a git repository to the providers of the project, and the packages
// in the files of those directories (protocol.md 1.3). Other sources name plugins, which are found by their names.
func (pr *projectReader) readPackages() {
	if pr.err != nil {
		return
	}
	seen := map[string]bool{}
	for _, p := range pr.p.Plugins.Providers {
		seen[p.Name] = true
	}
	pr.localPackages(pr.doc, pr.p.Directory(), seen)
}

func (pr *projectReader) localPackages(doc *document, directory string, seen map[string]bool) {
	reader := &projectReader{doc: doc, p: pr.p}
	packages := reader.mapping(doc.root(), "packages")
	for i := 0; packages != nil && i+1 < len(packages.Content) && reader.err == nil; i += 2 {
		name, source := packages.Content[i].Value, reader.packageSource(packages, packages.Content[i].Value)
		place, _ := splitVersion(source) // a folder has one version, so that of the file is ignored
		path, local := localPath(directory, place)
		if seen[name] || reader.err != nil {
			continue
		}
		if !local {
			reader.gitPackage(packages, packages.Content[i], source)
			continue
		}
		seen[name] = true
		if err := urn.CheckPackageName("package", name); err != nil {
			reader.fail(packages.Content[i], err.Error(), "")
			break
		}
		pr.p.Plugins.Providers = append(pr.p.Plugins.Providers, NamedPlugin{Name: name, Path: path})
		file := filepath.Join(path, plugin.PluginManifest)
		data, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			continue // a directory with an executable; the search reports an error if that is missing
		case err == nil:
			var nested *document
			if nested, err = parseDocument(file, data); err == nil {
				pr.localPackages(nested, path, seen)
			}
		}
		if err != nil {
			pr.err = err
		}
		if pr.err != nil {
			return
		}
	}
	if pr.err == nil {
		pr.err = reader.err
	}
}

// gitPackage adds a package whose source is a git repository. It ignores other sources.
func (pr *projectReader) gitPackage(packages, name *yaml.Node, source string) {
	p := Package{Source: source}
	if _, n := child(packages, name.Value); resolve(n).Kind == yaml.MappingNode {
		p.Version = strings.TrimPrefix(pr.text(resolve(n), "version", ""), "v")
	}
	server, version, err := p.Repository()
	if errors.Is(err, plugin.ErrNoGitSource) {
		return
	}
	if err == nil {
		err = urn.CheckPackageName("package", name.Value)
	}
	if err != nil {
		pr.fail(name, err.Error(), "")
		return
	}
	pr.p.Plugins.Providers = append(pr.p.Plugins.Providers, NamedPlugin{Name: name.Value, Version: version, DownloadURL: server})
}

// packageSource returns the source of a package, which is a string or a field of a mapping.
func (pr *projectReader) packageSource(packages *yaml.Node, name string) string {
	if _, n := child(packages, name); n != nil && resolve(n).Kind == yaml.MappingNode {
		return pr.text(resolve(n), "source", "name a plugin or a directory")
	}
	return pr.text(packages, name, "name a plugin or a directory")
}
