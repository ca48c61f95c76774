package packages

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
)

// pluginPlace is the place of the plugin of a package.
type pluginPlace struct {
	options host.PluginOptions
	spec    providers.Spec
	folder  string // of a plugin on the disk, "" for one that is found by its name
}

// placeOf finds the plugin of a package. Its folder must be absolute, if it has one.
func placeOf(options host.PluginOptions, entry workspace.Package) (pluginPlace, error) {
	at := pluginPlace{options: options, spec: providers.Spec{
		Package: entry.Source, Version: entry.Version, DownloadURL: entry.Server, Exact: entry.Version != "" || entry.Server != "",
	}}
	switch server, version, err := entry.Repository(); {
	case err == nil:
		at.spec.Package, at.spec.Version, at.spec.DownloadURL = path.Base(entry.Source), version, server
		return at, nil
	case !errors.Is(err, plugin.ErrNoGitSource):
		return at, exit.AsUsage(err)
	}
	if !filepath.IsAbs(entry.Source) {
		if err := urn.CheckPackageName("package", entry.Source); err != nil {
			return at, exit.AsUsage(fmt.Errorf("the source of the package %q: %w", entry.Name, err))
		}
		return at, nil
	}
	local, err := plugin.ProviderAt(entry.Source)
	if err != nil {
		return at, exit.AsUsage(err)
	}
	at.folder = local.Directory
	at.options = at.options.With(local)
	at.spec.Package, at.spec.Version = local.Name, ""
	return at, nil
}

// isBuiltin reports whether a built-in provider has served a package: only its name is given, and no plugin of that name is installed.
func (at pluginPlace) isBuiltin() bool {
	if at.folder != "" || at.spec.Exact || !host.IsBuiltin(at.spec) {
		return false
	}
	_, err := at.options.Finder().Find(plugin.Resource, at.spec.Package, "")
	return errors.As(err, new(*plugin.MissingError))
}

// version returns the version of the plugin that has served a package. For one from a git repository it is the tag or commit from which it was
// installed, whatever version its package has.
func (at pluginPlace) version(p *Package) (string, error) {
	if !strings.HasPrefix(at.spec.DownloadURL, plugin.GitScheme) {
		return p.Package().Version, nil
	}
	name, _ := plugin.PluginOf(at.spec)
	finder := at.options.Finder()
	found, err := finder.Find(plugin.Resource, name, "")
	if hosted := (*plugin.LanguageHostedError)(nil); errors.As(err, &hosted) {
		found.Directory, err = hosted.Directory, nil
	}
	for _, l := range finder.List() {
		inside, no := filepath.Rel(l.Location.Directory, found.Directory)
		if l.Kind == plugin.Resource && l.Name == name && no == nil && filepath.IsLocal(inside) {
			return strings.TrimPrefix(l.Version, plugin.CommitVersion), err
		}
	}
	return "", err
}

// made returns the request that parameterizes a plugin; nil if there are no parameters.
func made(parameters []string) *providers.ParameterizeRequest {
	if len(parameters) == 0 {
		return nil
	}
	return &providers.ParameterizeRequest{Args: parameters}
}
