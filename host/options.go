package host

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/text/similar"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/convert"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/tooling"
)

// PluginOptions are the places in which provider plugins are found, and the environment in which they run.
type PluginOptions struct {
	service *EngineService // receives the log messages of the plugins, and returns schemas; see [Open]. It may be nil
	// Directory is the program's directory, in which plugins run; "" is that of the process.
	Directory string
	// Project and RuntimeOptions describe the project; plugins get them in their environment (protocol.md 1.5).
	Project        string
	RuntimeOptions map[string]string
	// Config is the stack's configuration, for the plugins that run dynamic providers.
	Config sluice.Config
	// ProjectPlugins take precedence over all others. Home is PULUMI_HOME, whose directory "plugins" is the cache; "" for none.
	ProjectPlugins []plugin.ProjectPlugin
	Home           string
	// ProjectPackages are the packages of which the project file has more than the name. No built-in provider serves them.
	ProjectPackages []plugin.ProjectPackage
	// LookupEnv reads the environment; nil is [os.LookupEnv].
	LookupEnv func(name string) (string, bool)
	// Warn is called for plugins that are found in unusual places; nil discards.
	Warn func(message string)
	// Debug selects the plugins in source form that wait for a debugger.
	Debug tooling.Debug
	// NoBuiltins turns off the built-in providers, which are used where no plugin is installed. The key [BuiltinsKey] in Config
	// does the same. Note is called for each use of one, perhaps from many goroutines; nil discards.
	NoBuiltins bool
	Note       func(message string, as ...advice.Advice)
	// Installer installs missing plugins (protocol.md 1.11), after a Note; nil installs none. The variable
	// [install.AcquisitionVariable] turns it off. A plugin for a built-in package is installed only if another version of it is
	// installed, or built-in providers are turned off.
	Installer *install.Installer
	// InstallLate installs a missing plugin only when it is needed; otherwise known missing plugins are installed before the
	// program starts.
	InstallLate bool
	// LogFlags are arguments that make plugins log. They come before the plugin's own. Policy packs, and the plugins that run
	// dynamic providers, do not get them: those of Node.js and Python do not accept them.
	LogFlags []string
	Log      *slog.Logger // nil discards
	// KeepPlugins makes the plugins of a [Host] stay between operations, until the host is closed: an operation takes over the processes that an earlier one
	// has left in order, and configures only those whose configuration differs. It is for operations that belong together, such as an update and its
	// preview. Providers of dynamic resources are started anew, because they run the program's own code.
	KeepPlugins bool
}

// InstalledPlugins returns the plugins that a host with these options could start, by kind, name and place. It uses only the
// places of plugins in o, and starts nothing.
func InstalledPlugins(o PluginOptions) []plugin.Listing {
	return o.Finder().List()
}

// acquire returns the function that installs missing plugins; nil if they are not to be installed.
func (o PluginOptions) acquire() plugin.Acquire {
	if o.Installer == nil {
		return nil
	}
	var m install.Messages
	if o.Note != nil {
		m.Note = func(text string) { o.Note(text) }
	}
	if o.service != nil {
		m.Progress = o.service.progress
	}
	return o.Installer.Acquire(m)
}

// allow refuses to start an executable for which a debugger was requested.
func (o PluginOptions) allow(name string) error {
	if !o.Debug.Named(name) {
		return nil
	}
	return tooling.NoPluginDebugger(name, "it is an executable; start it in a debugger yourself, and give its port with PULUMI_DEBUG_PROVIDERS="+name+":PORT")
}

// meant returns the installed or built-in package with the name that is nearest to a name without a plugin. It returns "" if none
// is near.
func (o PluginOptions) meant(name string) string {
	known := o.providers()
	if !o.refusesBuiltins() {
		known = append(known, BuiltinProviders()...)
	}
	if near := similar.Name(name, known); near != name {
		return near
	}
	return "" // another version of it is there
}

// startWritten starts a plugin in source form. Components in YAML are served in this process, by another host.
func (o PluginOptions) startWritten(ctx context.Context, w plugin.Written) (plugin.Server, error) {
	c := tooling.PluginCommand{
		Kind: w.Kind, Name: "pulumi-" + string(w.Kind) + "-" + w.Name, Args: w.Args, Directory: o.Directory,
		Environment: w.Environment, Output: w.Output,
	}
	if o.service != nil && o.Debug.Plugin(w.Name, filepath.Base(w.Directory)) {
		c.Debug = o.service.log
	}
	if w.Directory == "" {
		c.Dynamic = true
		p := source.Project{Runtime: strings.TrimPrefix(w.Name, "pulumi-"), Root: o.Directory, Directory: o.Directory, Entry: ".", Options: map[string]any{}}
		for name, value := range o.RuntimeOptions {
			p.Options[name] = value
		}
		return runtimes.StartDirect(ctx, p, c)
	}
	m, err := source.ReadManifest(w.Directory, plugin.PluginManifest)
	if err != nil {
		return nil, fmt.Errorf("plugin %q: %w", w.Name, err)
	}
	if err := engine.Require(filepath.Join(w.Directory, plugin.PluginManifest), m.RequiredVersion); err != nil {
		return nil, fmt.Errorf("plugin %q: %w", w.Name, err)
	}
	if m.Runtime.Name == "yaml" && o.Debug.Named(w.Name, filepath.Base(w.Directory)) {
		return nil, tooling.NoPluginDebugger(w.Name, "it is written in YAML, which has no debugger")
	}
	if m.Runtime.Name == "yaml" {
		return nil, &plugin.LanguageHostedError{Name: w.Name, Directory: w.Directory}
	}
	c.Version = m.Version
	server, err := runtimes.StartPlugin(ctx, m.Project(w.Directory), c, o.runtimes())
	if err != nil {
		return nil, fmt.Errorf("plugin %q in %s: %w", w.Name, w.Directory, err)
	}
	return server, nil
}

// RunWritten runs a plugin in source form that serves nothing, such as a tool, at a terminal.
func (o PluginOptions) RunWritten(ctx context.Context, w plugin.Written, f *tooling.Foreground) error {
	m, err := source.ReadManifest(w.Directory, plugin.Manifest(w.Kind))
	if err != nil {
		return err
	}
	if err := engine.Require(filepath.Join(w.Directory, plugin.Manifest(w.Kind)), m.RequiredVersion); err != nil {
		return err
	}
	_, err = runtimes.StartPlugin(ctx, m.Project(w.Directory), tooling.PluginCommand{
		Kind: w.Kind, Name: "pulumi-" + string(w.Kind) + "-" + w.Name, Args: w.Args, Directory: o.Directory, Environment: w.Environment, Foreground: f,
	}, o.runtimes())
	return err
}

// With returns o with one more plugin of the project, which replaces those of its name.
func (o PluginOptions) With(p plugin.ProjectPlugin) PluginOptions {
	o.ProjectPlugins = append(slices.DeleteFunc(slices.Clone(o.ProjectPlugins), func(other plugin.ProjectPlugin) bool {
		return other.Kind == p.Kind && other.Name == p.Name
	}), p)
	return o
}

// Finder finds plugins in the places of o.
func (o PluginOptions) Finder() plugin.Finder {
	return plugin.Finder{Project: o.ProjectPlugins, Packages: o.ProjectPackages, Home: o.Home, LookupEnv: o.LookupEnv, Warn: o.Warn}
}

// policies returns the options for policy packs.
func (o PluginOptions) policies() policy.Options {
	options := policy.Options{Finder: o.Finder(), Acquire: o.acquire(), Debug: o.Debug}
	if o.service != nil {
		options.Engine, options.Schemas = o.service, o.service
	}
	return options
}

// runtimes returns the options for the choice of a runtime.
func (o PluginOptions) runtimes() runtimes.Options {
	options := runtimes.Options{Finder: o.Finder(), Acquire: o.acquire(), LogFlags: o.LogFlags}
	if o.service != nil {
		options.Engine, options.Schemas = o.service, o.service
	}
	return options
}

// converting returns the options for converters and generators. schemas is the host that serves schemas.
func (o PluginOptions) converting(schemas *PluginHost) convert.Options {
	return convert.Options{Runtimes: o.runtimes(), Providers: SchemaHost(schemas), Warn: o.Warn}
}

// providers returns the names of the installed providers, each once.
func (o PluginOptions) providers() []string {
	seen := map[string]bool{}
	var names []string
	for _, l := range InstalledPlugins(o) {
		if l.Kind == plugin.Resource && !seen[l.Name] {
			seen[l.Name] = true
			names = append(names, l.Name)
		}
	}
	return names
}

func (o PluginOptions) refusesBuiltins() bool {
	return o.NoBuiltins || o.Config[BuiltinsKey].Text == "false"
}
