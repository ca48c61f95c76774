package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
)

// packageReader reads the packages of a project.
type packageReader struct {
	fields *fieldReader
	p      *Project
}

// all reads the packages of the file.
func (r *packageReader) all() []Package {
	entries := r.fields.mapping(r.fields.doc.root(), "packages")
	var list []Package
	for i := 0; entries != nil && i+1 < len(entries.Content) && r.fields.err == nil; i += 2 {
		p := r.one(entries, entries.Content[i].Value)
		r.check(entries.Content[i], p)
		list = append(list, p)
	}
	return list
}

// check refuses a package without a source, and one of a plugin with an invalid version. The version of a package in a git
// repository may be a commit.
func (r *packageReader) check(at *yaml.Node, p Package) {
	if p.Source == "" {
		r.fields.fail(at, fmt.Sprintf("the package %q has no source", p.Name), "name a plugin such as `random@4.0.0`, or a directory such as `./components`")
		return
	}
	if _, err := semver.NewVersion(p.Version); p.Version != "" && err != nil && urn.CheckPluginName(p.Source) == nil {
		r.fields.fail(at, fmt.Sprintf("%q is not a version of the package %q", p.Version, p.Name), "write one such as 1.2.3")
	}
}

// one reads the entry of a package: its short form, or a mapping.
func (r *packageReader) one(entries *yaml.Node, name string) Package {
	_, n := child(entries, name)
	if n = resolve(n); n.Kind != yaml.MappingNode {
		p := Package{Name: name}
		p.Source, p.Version = splitVersion(r.fields.text(entries, name, "name a plugin or a directory"))
		return p
	}
	r.fields.warnAboutOthers(n, fmt.Sprintf("the package %q", name), "source", "version", "parameters", "extensions", "pluginDownloadURL")
	p := Package{
		Name: name, Source: r.fields.text(n, "source", "name a plugin or a directory"), Version: strings.TrimPrefix(r.fields.text(n, "version", ""), "v"),
		Server: r.fields.text(n, "pluginDownloadURL", "write a URL"),
	}
	p.Parameters, p.Extensions = r.parameters(n, name, "parameters"), r.parameters(n, name, "extensions")
	if len(p.Parameters) > 0 && len(p.Extensions) > 0 {
		r.fields.fail(n, fmt.Sprintf("the package %q has both `parameters` and `extensions`", name), "leave one of them out")
	}
	return p
}

// parameters reads a list of texts of a package.
func (r *packageReader) parameters(entry *yaml.Node, name, key string) []string {
	_, list := child(entry, key)
	if list = resolve(list); list == nil || isNull(list) || r.fields.err != nil {
		return nil
	}
	if list.Kind != yaml.SequenceNode {
		r.fields.fail(list, fmt.Sprintf("the `%s` of the package %q must be a list, not %s", key, name, describe(list)), "")
		return nil
	}
	var texts []string
	for _, one := range list.Content {
		if one = resolve(one); one.Kind != yaml.ScalarNode || isNull(one) {
			r.fields.fail(one, fmt.Sprintf("one of the `%s` of the package %q must be a text, not %s", key, name, describe(one)), "")
			return nil
		}
		texts = append(texts, one.Value)
	}
	return texts
}

// splitVersion splits the short form of a package after its source. The path of a folder may contain an "@".
func splitVersion(text string) (source, version string) {
	if at := strings.LastIndexByte(text, '@'); at > strings.LastIndexByte(text, '/') {
		return text[:at], strings.TrimPrefix(text[at+1:], "v")
	}
	return text, ""
}

// places adds the packages whose source is a directory or a git repository to the providers of the project, and the packages
// in the files of those directories (protocol.md 1.3). Other sources name plugins, which are found by their names.
func (r *packageReader) places() {
	if r.fields.err != nil {
		return
	}
	seen := map[string]bool{}
	for _, p := range r.p.Plugins.Providers {
		seen[p.Name] = true
	}
	r.local(r.fields.doc, r.p.Directory(), seen)
}

// local adds the packages of a file. seen has the names that are taken.
func (r *packageReader) local(doc *document, directory string, seen map[string]bool) {
	reader := &packageReader{fields: &fieldReader{doc: doc}, p: r.p}
	packages := reader.fields.mapping(doc.root(), "packages")
	for i := 0; packages != nil && i+1 < len(packages.Content) && reader.fields.err == nil; i += 2 {
		name, source := packages.Content[i].Value, reader.source(packages, packages.Content[i].Value)
		place, _ := splitVersion(source) // a folder has one version, so that of the file is ignored
		path, local := localPath(directory, place)
		if seen[name] || reader.fields.err != nil {
			continue
		}
		if !local {
			reader.repository(packages, packages.Content[i], source)
			continue
		}
		seen[name] = true
		if err := urn.CheckPackageName("package", name); err != nil {
			reader.fields.fail(packages.Content[i], err.Error(), "")
			break
		}
		r.p.Plugins.Providers = append(r.p.Plugins.Providers, NamedPlugin{Name: name, Path: path})
		file := filepath.Join(path, plugin.PluginManifest)
		data, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			continue // a directory with an executable; the search reports an error if that is missing
		case err == nil:
			var nested *document
			if nested, err = parseDocument(file, data); err == nil {
				r.local(nested, path, seen)
			}
		}
		if err != nil {
			r.fields.err = err
		}
		if r.fields.err != nil {
			return
		}
	}
	if r.fields.err == nil {
		r.fields.err = reader.fields.err
	}
}

// repository adds a package whose source is a git repository. It ignores other sources.
func (r *packageReader) repository(packages, name *yaml.Node, source string) {
	p := Package{Source: source}
	if _, n := child(packages, name.Value); resolve(n).Kind == yaml.MappingNode {
		p.Version = strings.TrimPrefix(r.fields.text(resolve(n), "version", ""), "v")
	}
	server, version, err := p.Repository()
	if errors.Is(err, plugin.ErrNoGitSource) {
		return
	}
	if err == nil {
		err = urn.CheckPackageName("package", name.Value)
	}
	if err != nil {
		r.fields.fail(name, err.Error(), "")
		return
	}
	r.p.Plugins.Providers = append(r.p.Plugins.Providers, NamedPlugin{Name: name.Value, Version: version, DownloadURL: server})
}

// source returns the source of a package, which is a string or a field of a mapping.
func (r *packageReader) source(packages *yaml.Node, name string) string {
	if _, n := child(packages, name); n != nil && resolve(n).Kind == yaml.MappingNode {
		return r.fields.text(resolve(n), "source", "name a plugin or a directory")
	}
	return r.fields.text(packages, name, "name a plugin or a directory")
}
