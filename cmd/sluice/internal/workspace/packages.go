package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
)

// readPackages adds the packages whose source is a directory or a git repository to the providers of the project, and the packages
// that directories name in turn (protocol.md 1.3). Other sources name plugins, which are found by their names.
func (r *projectReader) readPackages() {
	if r.err != nil {
		return
	}
	seen := map[string]bool{}
	for _, p := range r.p.Plugins.Providers {
		seen[p.Name] = true
	}
	r.localPackages(r.doc, r.p.Directory(), seen)
}

func (r *projectReader) localPackages(doc *document, directory string, seen map[string]bool) {
	reader := &projectReader{doc: doc, p: r.p}
	packages := reader.mapping(doc.root(), "packages")
	for i := 0; packages != nil && i+1 < len(packages.Content) && reader.err == nil; i += 2 {
		name, source := packages.Content[i].Value, reader.packageSource(packages, packages.Content[i].Value)
		path, local := localPath(directory, source)
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
		r.p.Plugins.Providers = append(r.p.Plugins.Providers, NamedPlugin{Name: name, Path: path})
		file := filepath.Join(path, plugin.PluginManifest)
		data, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			continue // a directory with an executable; the search for the executable reports if it is missing
		case err == nil:
			var nested *document
			if nested, err = parseDocument(file, data); err == nil {
				r.localPackages(nested, path, seen)
			}
		}
		if err != nil {
			r.err = err
		}
		if r.err != nil {
			return
		}
	}
	if r.err == nil {
		r.err = reader.err
	}
}

// gitPackage adds a package whose source is a git repository; other sources are left out.
func (r *projectReader) gitPackage(packages, name *yaml.Node, source string) {
	server, version, err := plugin.ParsePackageSource(source)
	if errors.Is(err, plugin.ErrNoGitSource) {
		return
	}
	if err == nil {
		err = urn.CheckPackageName("package", name.Value)
	}
	if err != nil {
		r.fail(name, err.Error(), "")
		return
	}
	if _, n := child(packages, name.Value); resolve(n).Kind == yaml.MappingNode && version == "" {
		version = strings.TrimPrefix(r.text(resolve(n), "version", ""), "v")
	}
	r.p.Plugins.Providers = append(r.p.Plugins.Providers, NamedPlugin{Name: name.Value, Version: version, DownloadURL: server})
}

// packageSource returns the source of a package, which the file gives as a string or in a mapping.
func (r *projectReader) packageSource(packages *yaml.Node, name string) string {
	if _, n := child(packages, name); n != nil && resolve(n).Kind == yaml.MappingNode {
		return r.text(resolve(n), "source", "name a plugin or a directory")
	}
	return r.text(packages, name, "name a plugin or a directory")
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
