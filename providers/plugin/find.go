package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Kind is the kind of a plugin, as it occurs in the names of executables.
type Kind string

// The kinds of plugins ([protocol.md 1.2]).
//
// [protocol.md 1.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#12-kinds-and-executables
const (
	Resource  Kind = "resource"
	Language  Kind = "language"
	Analyzer  Kind = "analyzer"
	Converter Kind = "converter"
	Tool      Kind = "tool"
)

// The files that make a folder a plugin in source form.
const (
	PluginManifest = "PulumiPlugin.yaml" // a provider, converter or tool (protocol.md 1.10)
	PolicyManifest = "PulumiPolicy.yaml" // a policy pack (protocol.md 7.1)
)

// ProjectPlugin is a plugin that the project file names: its executable is in Directory, or its sources are in a git repository.
type ProjectPlugin struct {
	Kind        Kind
	Name        string // of the package, for one that is in a git repository
	Version     string // "" fits every request
	Directory   string // absolute; "" for one that is in a git repository
	DownloadURL string // "git://..."
}

// Finder finds the executables of plugins ([protocol.md 1.3]). It only reads, and may be used from many goroutines.
//
// [protocol.md 1.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#13-where-plugins-are-found
type Finder struct {
	// Project are the plugins of the project; they take precedence over everything else.
	Project []ProjectPlugin
	// Packages are the packages for which the project has more than a name.
	Packages []ProjectPackage
	// Home is PULUMI_HOME; its directory "plugins" is the cache. "" means that there is no cache.
	Home string
	// Bundled is a directory with plugins that come with the engine; "" for none.
	Bundled string
	// LookupEnv reads the engine's environment; nil is os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Warn is called for choices that may surprise; nil discards.
	Warn func(message string)
}

// Location is a plugin that was found.
type Location struct {
	Executable string // "" for a plugin in source form
	Directory  string // that of the executable or of the sources
	Source     Source
	Version    string // of one in the cache; "" if it is not known
}

// Path returns the path of a plugin for display: its executable, or the folder of its sources.
func (l Location) Path() string { return cmp.Or(l.Executable, l.Directory) }

// Source is the kind of place where a plugin was found.
type Source string

// The places where plugins are found, in the order in which they are searched.
const (
	FromProject Source = "project"
	FromPath    Source = "path"
	FromBundle  Source = "bundle"
	FromCache   Source = "cache"
)

// ErrNotAcquired is returned by an [Acquire] that installs nothing, because the user has switched that off.
var ErrNotAcquired = errors.New("automatic installation is turned off")

// MissingError reports that a plugin is missing.
type MissingError struct {
	Kind        Kind
	Name        string
	Version     string // "" for any
	DownloadURL string
	// Acquiring is why it could not be installed either; nil if that was not tried.
	Acquiring error
	// Meant is a similar name that exists; "" if there is none.
	Meant string
}

func (e *MissingError) Error() string {
	version := ""
	if e.Version != "" {
		version = " at version v" + e.Version
	}
	name := executableName(e.Kind, e.Name)
	meant := ""
	if e.Meant != "" {
		meant = fmt.Sprintf("; did you mean %q?", e.Meant)
	}
	if e.Acquiring != nil && !errors.Is(e.Acquiring, ErrNotAcquired) {
		why := ": " + e.Acquiring.Error() + meant
		if list, is := e.Acquiring.(interface{ Reasons() string }); is {
			why = meant + list.Reasons() // without the name of the plugin, which is there already
		}
		return fmt.Sprintf("Could not automatically download and install %s plugin '%s'%s%s", e.Kind, name, version, why)
	}
	text := fmt.Sprintf("no %s plugin '%s' found in the workspace%s or on your $PATH", e.Kind, name, version)
	if e.Acquiring != nil {
		text += ", and " + e.Acquiring.Error()
	}
	return text + meant
}

// Unwrap returns why the plugin could not be installed.
func (e *MissingError) Unwrap() error { return e.Acquiring }

// Advice suggests installing the plugin.
func (e *MissingError) Advice() []advice.Advice {
	return []advice.Advice{{Action: advice.InstallPlugin, Plugin: advice.Plugin{
		Kind: string(e.Kind), Name: e.Name, Version: e.Version, Server: e.DownloadURL,
	}}}
}

// LanguageHostedError reports that a plugin is a program for a language plugin rather than an executable ([protocol.md 1.10]).
//
// [protocol.md 1.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#110-plugins-in-a-language
type LanguageHostedError struct {
	Name, Directory string
	Source          Source
}

func (e *LanguageHostedError) Error() string {
	return fmt.Sprintf("plugin %q in %s is written in a program language and has no executable; build it, or put an "+
		"executable %s on your $PATH that runs it", e.Name, e.Directory, executableName(Resource, e.Name))
}

func executableName(k Kind, name string) string { return "pulumi-" + string(k) + "-" + name }

func (f Finder) env(name string) string {
	lookup := f.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	v, _ := lookup(name)
	return v
}

func (f Finder) isSet(name string) bool {
	switch strings.ToLower(f.env(name)) {
	case "1", "true", "t", "yes", "y":
		return true
	}
	return false
}

func (f Finder) warn(format string, args ...any) {
	if f.Warn != nil {
		f.Warn(fmt.Sprintf(format, args...))
	}
}

// Find returns the location of a plugin. version has no leading "v"; "" means any. Errors are *[MissingError],
// *[LanguageHostedError], *[urn.NameError] and those of a malformed project. Names come from programs and states of others:
// the result is always a file pulumi-<kind>-<name> in one of the folders of plugins, and never another file.
func (f Finder) Find(k Kind, name, version string) (Location, error) {
	if err := urn.CheckPluginName(name); err != nil {
		return Location{}, err
	}
	if l, ok, err := f.inProject(k, name, version); ok || err != nil {
		return l, err
	}
	if l, ok := f.onPath(k, name); ok {
		return l, nil
	}
	if file, ok := Executable(f.Bundled, k, name); ok {
		return located(file, FromBundle), nil
	}
	return f.cache().find(k, name, version)
}

func located(file string, s Source) Location {
	return Location{Executable: file, Directory: filepath.Dir(file), Source: s}
}

func (f Finder) inProject(k Kind, name, version string) (Location, bool, error) {
	var fit []ProjectPlugin
	for _, p := range f.Project {
		if p.Kind != k || p.Name != name || p.Directory == "" {
			continue
		}
		if version != "" && p.Version != "" && p.Version != version {
			f.warn("the project's plugin %q has version %s, but %s is needed; it is not used", name, p.Version, version)
			continue
		}
		fit = append(fit, p)
	}
	if len(fit) == 0 {
		return Location{}, false, nil
	}
	if len(fit) > 1 && fit[0].Version == fit[1].Version {
		return Location{}, false, fmt.Errorf("the project names the %s plugin %q twice: in %s and in %s",
			k, name, fit[0].Directory, fit[1].Directory)
	}
	p := fit[0]
	if info, err := os.Stat(p.Directory); err != nil || !info.IsDir() {
		return Location{}, false, fmt.Errorf("the project's plugin %q is expected in %s, which is not a directory", name, p.Directory)
	}
	file, ok := Executable(p.Directory, k, name)
	if !ok {
		return Location{}, false, noExecutable(k, name, p.Directory, FromProject)
	}
	return located(file, FromProject), true, nil
}

// Manifest returns the name of the file that makes a folder a plugin of a kind in source form ([protocol.md 1.10]); "" for language
// plugins, which must be executables: they run the others.
//
// [protocol.md 1.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#110-plugins-in-a-language
func Manifest(k Kind) string {
	switch k {
	case Language:
		return ""
	case Analyzer:
		return PolicyManifest
	}
	return PluginManifest
}

// isWritten reports whether a folder has a plugin in source form.
func isWritten(directory string, k Kind) bool {
	return Manifest(k) != "" && files.MayBeThere(filepath.Join(directory, Manifest(k)))
}

func noExecutable(k Kind, name, directory string, from Source) error {
	if folder, is := SourceFolder(directory, k, name); is {
		return &LanguageHostedError{Name: name, Directory: folder, Source: from}
	}
	return fmt.Errorf("plugin %q: there is no executable %s in %s", name, executableName(k, name), directory)
}

func (f Finder) onPath(k Kind, name string) (Location, bool) {
	if f.isSet("PULUMI_IGNORE_AMBIENT_PLUGINS") {
		return Location{}, false
	}
	for _, directory := range filepath.SplitList(f.env("PATH")) {
		if !filepath.IsAbs(directory) {
			continue // like os/exec: a file in the current directory does not run by accident
		}
		file, ok := Executable(directory, k, name)
		if !ok {
			continue
		}
		if bundled, ok := Executable(f.Bundled, k, name); ok && !sameFile(file, bundled) {
			f.warn("using %s from $PATH at %s instead of the bundled %s", executableName(k, name), file, bundled)
		}
		return located(file, FromPath), true
	}
	return Location{}, false
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// Executable returns the executable of a plugin in a folder, with one of the endings of the system, and whether it exists. It is
// in directory itself, whatever the name.
func Executable(directory string, k Kind, name string) (string, bool) {
	if directory == "" || urn.CheckPluginName(name) != nil {
		return "", false
	}
	for _, ending := range endings() {
		file := filepath.Join(directory, executableName(k, name)+ending)
		info, err := os.Stat(file)
		if err == nil && !info.IsDir() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			return file, true
		}
	}
	return "", false
}

// endings are the extensions of executables.
func endings() []string {
	if runtime.GOOS == "windows" {
		return []string{".exe", ".cmd", ".bat"}
	}
	return []string{""}
}

// ProjectPackage is a package for which the project has more than a name. The project's entry is followed or is an error: no other
// plugin may serve the package.
type ProjectPackage struct {
	Name string
	// Plugin serves it; "" is the plugin of its name. Version is the version of the plugin, "" for any. DownloadURL is the place to
	// download it from, "" for the usual ones.
	Plugin, Version, DownloadURL string
	// Parameters are the arguments from which the plugin makes the package, if there are any.
	Parameters []string
}

// IsQualified reports whether the project has more than a name for a package.
func (f Finder) IsQualified(name string) bool {
	for _, p := range f.Packages {
		if p.Name == name {
			return true
		}
	}
	return false
}

// completeFromPackages returns spec with the project's values for the fields that the program leaves open.
func (f Finder) completeFromPackages(spec providers.Spec) providers.Spec {
	for _, p := range f.Packages {
		if p.Name != spec.Package || len(p.Parameters) > 0 || spec.Parameterization != nil {
			continue
		}
		if p.Plugin != "" && p.Plugin != p.Name {
			spec.Plugin = cmp.Or(spec.Plugin, p.Plugin)
		}
		spec.Version = cmp.Or(spec.Version, p.Version)
		if p.DownloadURL != "" && (spec.DownloadURL == "" || spec.Recorded) {
			spec.DownloadURL, spec.Recorded = p.DownloadURL, false
		}
	}
	return spec
}

// checkMade refuses a spec without a parameterization for a package that a plugin makes from the project's parameters: only an
// SDK or a lock file has the parameterization.
func (f Finder) checkMade(spec providers.Spec) error {
	for _, p := range f.Packages {
		if p.Name == spec.Package && len(p.Parameters) > 0 && spec.Parameterization == nil {
			return advice.Errorf(advice.On(advice.InstallProject), "the project has the plugin %q make the package %q of parameters (see `packages` in the project file), "+
				"and that has not been done yet", p.Plugin, p.Name)
		}
	}
	return nil
}

// cache returns the cache in which f looks last.
func (f Finder) cache() cache {
	c := cache{takesNewer: f.isSet("PULUMI_ENABLE_LEGACY_PLUGIN_SEARCH")}
	if f.Home != "" {
		c.folder = filepath.Join(f.Home, "plugins")
	}
	return c
}

// FindOrAcquire is [Finder.Find], but installs a missing plugin unless acquire is nil.
func (f Finder) FindOrAcquire(ctx context.Context, w Wanted, acquire Acquire) (Location, error) {
	l, err := f.Find(w.Kind, w.Name, w.Version)
	missing, is := err.(*MissingError) //nolint:errorlint // made by Find itself
	if !is {
		return l, err
	}
	missing.DownloadURL = w.DownloadURL
	if acquire == nil || f.Home == "" {
		return l, missing
	}
	if err := acquire(ctx, w); err != nil {
		if ctx.Err() != nil {
			return l, context.Cause(ctx)
		}
		missing.Acquiring = err
		return l, missing
	}
	return f.Find(w.Kind, w.Name, w.Version)
}

// Complete returns spec with the project's settings for its package, such as a git repository, except for fields that the
// program sets itself.
func (f Finder) Complete(spec providers.Spec) providers.Spec {
	spec = f.completeFromPackages(spec)
	if spec.DownloadURL != "" && !spec.Recorded || spec.Parameterization != nil {
		return spec
	}
	for _, p := range f.Project {
		if p.Kind != Resource || p.Name != spec.Package || p.DownloadURL == "" {
			continue
		}
		if p.Version != "" || spec.DownloadURL != p.DownloadURL {
			spec.Version = p.Version // the program's version is that of the package
		}
		spec.DownloadURL, spec.Recorded = p.DownloadURL, false
	}
	return spec
}

// List returns the installed plugins by kind, name and place, the newest version first. A plugin that another one hides is
// listed as well: [Finder.Find] returns the one that is used. Directories that cannot be read are left out. Nothing is
// started.
func (f Finder) List() []Listing {
	var list []Listing
	for _, p := range f.Project {
		if file, ok := Executable(p.Directory, p.Kind, p.Name); ok {
			list = append(list, Listing{Kind: p.Kind, Name: p.Name, Version: p.Version, Location: located(file, FromProject)})
		}
	}
	if !f.isSet("PULUMI_IGNORE_AMBIENT_PLUGINS") {
		for _, directory := range filepath.SplitList(f.env("PATH")) {
			if filepath.IsAbs(directory) {
				list = append(list, executables(directory, FromPath)...)
			}
		}
	}
	list = append(list, executables(f.Bundled, FromBundle)...)
	list = append(list, f.cache().list()...)
	rank := []Source{FromProject, FromPath, FromBundle, FromCache}
	slices.SortStableFunc(list, func(a, b Listing) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(slices.Index(rank, a.Location.Source), slices.Index(rank, b.Location.Source)), newestFirst(a.Version, b.Version))
	})
	return list
}

func newestFirst(a, b string) int {
	x, errX := semver.NewVersion(a)
	y, errY := semver.NewVersion(b)
	if errX != nil || errY != nil {
		return cmp.Compare(b, a)
	}
	return y.Compare(x)
}
