package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
)

// Package is a package in the `packages` of a project.
type Package struct {
	Name string // its key
	// Source is the name of a plugin, or a folder relative to the file.
	Source  string
	Version string // "" for any
	// Parameters are the parameters of the package. Extensions are those of a package that extends the plugin's own.
	Parameters, Extensions []string
	// Server is the source of a missing plugin; "" is the public host.
	Server string
}

// IsBare reports whether the file contains only the name of the package.
func (p Package) IsBare() bool {
	return p.Source == p.Name && p.Version == "" && p.Server == "" && len(p.Parameters) == 0 && len(p.Extensions) == 0
}

// String is the short form of a package without parameters, extensions and server.
func (p Package) String() string {
	if p.Version == "" {
		return p.Source
	}
	return p.Source + "@" + p.Version
}

// IsLocal reports whether the source is a folder, and returns its path. A relative source is relative to directory.
func (p Package) IsLocal(directory string) (path string, is bool) {
	return localPath(directory, p.Source)
}

// Repository returns the download URL and the version of the plugin of a package that is in a git repository. The error is
// [plugin.ErrNoGitSource] for others.
func (p Package) Repository() (downloadURL, version string, err error) {
	downloadURL, version, err = plugin.ParsePackageSource(p.Source)
	if err == nil && version == "" && p.Version != "" {
		return plugin.ParsePackageSource(p.String())
	}
	return downloadURL, version, err
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

// PackageFile returns the project file of a folder or of those above it, or the PulumiPlugin.yaml of a plugin if that is nearer. The
// error wraps [ErrNoProject].
func PackageFile(directory string) (string, error) {
	project, err := FindProject(directory)
	for at := directory; ; at = filepath.Dir(at) {
		manifest := filepath.Join(at, plugin.PluginManifest)
		if err == nil && filepath.Dir(project) == at || filepath.Dir(at) == at {
			return project, err
		}
		if info, statErr := os.Stat(manifest); statErr == nil && !info.IsDir() {
			return manifest, nil
		}
	}
}

// ReadPackages returns the packages of a project file, or of a plugin's file. Their folders are absolute.
func ReadPackages(path string) ([]Package, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	doc, err := parseDocument(path, data)
	if err != nil {
		return nil, err
	}
	r := projectReader{doc: doc, p: &Project{Path: path}}
	list := r.packages()
	for i, p := range list {
		list[i] = p.At(filepath.Dir(path))
	}
	return list, r.err
}

// AddPackage adds a package to a project file, or replaces the one with its name. It keeps comments, the order of the file and,
// where possible, every other line.
func AddPackage(path string, p Package) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc, err := parseDocument(path, data)
	if err != nil {
		return err
	}
	_, entries := child(doc.root(), "packages")
	if entries != nil && !isNull(entries) && entries.Kind != yaml.MappingNode {
		return doc.errorAt(entries.Line, "`packages` must be a mapping, not "+describe(entries), "")
	}
	_, old := child(entries, p.Name)
	entry := p.node()
	if old = resolve(old); len(p.Parameters) == 0 && len(p.Extensions) == 0 && p.Server == "" && (old == nil || old.Kind != yaml.MappingNode) {
		entry = newText(p.String())
	}
	inserted := insertPackage(data, doc, p.Name, entry)
	if entries == nil || isNull(entries) {
		entries = newMapping()
		setChild(doc.root(), "packages", entries)
	}
	setChild(entries, p.Name, entry)
	if again, err := parseDocument(path, inserted); inserted != nil && err == nil && sameNode(doc.node, again.node) {
		return writeAtomically(path, inserted, 0o644)
	}
	if data, err = doc.bytes(); err != nil {
		return err
	}
	return writeAtomically(path, data, 0o644)
}

// insertPackage returns the text of a YAML file with a new entry of `packages`; nil if that is not simple. The result may have
// another meaning, so the caller checks it.
func insertPackage(data []byte, doc *document, name string, entry *yaml.Node) []byte {
	lines := strings.SplitAfter(strings.TrimRight(string(data), "\n")+"\n", "\n")
	lines = lines[:len(lines)-1] // after the last line end
	_, entries := child(doc.root(), "packages")
	_, old := child(entries, name)
	added := newMapping()
	setChild(added, name, entry)
	at, indent := len(lines), 2
	switch {
	case doc.isJSON || old != nil || entries != nil && len(entries.Content) == 0:
		return nil
	case entries == nil:
		lines = append(lines, "packages:\n")
		at++
	default:
		at, indent = lastLine(entries), entries.Content[0].Column-1
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if e.Encode(added) != nil || e.Close() != nil || at > len(lines) {
		return nil
	}
	var text strings.Builder
	for line := range strings.Lines(b.String()) {
		text.WriteString(strings.Repeat(" ", indent) + line)
	}
	return []byte(strings.Join(slices.Insert(lines, at, text.String()), ""))
}

// lastLine returns the number of the last line in which a part of a node begins.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// node returns the long form.
func (p Package) node() *yaml.Node {
	n := newMapping()
	setChild(n, "source", newText(p.Source))
	if p.Version != "" {
		setChild(n, "version", newText(p.Version))
	}
	setTexts(n, "parameters", p.Parameters)
	setTexts(n, "extensions", p.Extensions)
	if p.Server != "" {
		setChild(n, "pluginDownloadURL", newText(p.Server))
	}
	return n
}

// setTexts adds a list of texts to a mapping, unless it is empty.
func setTexts(n *yaml.Node, key string, texts []string) {
	if len(texts) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, one := range texts {
		list.Content = append(list.Content, newText(one))
	}
	setChild(n, key, list)
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

// localPath reports whether the source of a package is a directory, and returns its path. A relative source is relative
// to directory.
func localPath(directory, source string) (path string, local bool) {
	path = source
	if !filepath.IsAbs(path) {
		path = filepath.Join(directory, filepath.FromSlash(source))
	}
	switch {
	case source == "":
		return "", false
	case filepath.IsAbs(source), strings.HasPrefix(source, "./"), strings.HasPrefix(source, ".."), source == ".":
		return path, true
	}
	info, err := os.Stat(path)
	return path, strings.Contains(source, "/") && err == nil && info.IsDir()
}

// At returns the package with its folder, if it has one, as an absolute path. A relative source is relative to directory.
func (p Package) At(directory string) Package {
	if path, is := p.IsLocal(directory); is {
		p.Source = path
	}
	return p
}
