package workspace

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/providers/plugin"
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
	r := packageReader{fields: &fieldReader{doc: doc}, p: &Project{Path: path}}
	list := r.all()
	for i, p := range list {
		list[i] = p.At(filepath.Dir(path))
	}
	return list, r.fields.err
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
		return files.Replace(path, 0o644, files.Content(inserted))
	}
	if data, err = doc.bytes(); err != nil {
		return err
	}
	return files.Replace(path, 0o644, files.Content(data))
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
