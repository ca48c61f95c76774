package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/catalog"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/convert"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// InstalledPlugins returns the plugins that a host with these options could start, by kind, name and place. It uses only the
// places of plugins in o, and starts nothing.
func InstalledPlugins(o PluginOptions) []plugin.Listing {
	return o.Finder().List()
}

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

// NewInstaller returns an installer that also installs the dependencies of plugins in source form, with the runtimes of their
// languages, and the language plugins that those runtimes need. It uses the places of plugins, Warn and Note of o.
func NewInstaller(i install.Options, o PluginOptions) *install.Installer {
	var installer *install.Installer
	i.Dependencies = func(ctx context.Context, w install.Written) error {
		m, err := source.ReadManifest(w.Directory, plugin.Manifest(w.Kind))
		if err != nil {
			return err
		}
		h := Open(ctx, PluginOptions{
			ProjectPlugins: o.ProjectPlugins, ProjectPackages: o.ProjectPackages, Home: o.Home, LookupEnv: o.LookupEnv, Warn: o.Warn, Note: o.Note,
			Installer: installer, LogFlags: o.LogFlags,
		})
		defer func() { _ = h.Close() }() // its error changes nothing
		runtime, err := runtimes.Choose(m.Runtime.Name, h.options.runtimes())
		if err != nil {
			return err
		}
		p := m.Project(w.Directory)
		if w.Kind == plugin.Analyzer {
			p = policy.Isolated(p)
		}
		return runtime.Install(ctx, p, w.Output)
	}
	installer = install.New(i)
	return installer
}

// PluginHost starts provider plugins as processes, and serves some packages itself if no plugin for them is installed (see
// [BuiltinProviders]). It may be used by several operations, one after the other.
type PluginHost struct {
	host      pluginLoader
	plugins   *plugin.Host // without the providers that are built in
	installed func() []string
	options   PluginOptions

	mu     sync.Mutex // guards loaded
	loaded []providers.Provider
}

// NewPluginHost returns the host that finds provider plugins as Pulumi does.
func NewPluginHost(o PluginOptions) *PluginHost {
	config, _ := o.Config.Values()
	options := plugin.Options{
		Directory: o.Directory, Project: o.Project, RuntimeOptions: o.RuntimeOptions, Config: config,
		ProjectPlugins: o.ProjectPlugins, ProjectPackages: o.ProjectPackages, Home: o.Home, LookupEnv: o.LookupEnv, Warn: o.Warn, Log: o.Log,
		Acquire: o.acquire(), StartWritten: o.startWritten, Allow: o.allow, Meant: o.meant, LogFlags: o.LogFlags,
	}
	if o.Note != nil {
		options.Note = func(text string) { o.Note(text) }
	}
	if o.service != nil {
		options.EngineAddress, options.SchemasAddress = o.service.Address, o.service.Address
		options.Output = o.service.pluginOutput
	}
	plugins := plugin.NewHost(options)
	return &PluginHost{host: newBuiltins(o, plugins), plugins: plugins, installed: o.providers, options: o}
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
	if near := source.Near(name, known); near != name {
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

// Load starts a plugin.
func (h *PluginHost) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	p, err := h.host.Load(ctx, spec)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loaded = append(h.loaded, p)
	return p, nil
}

// pluginLoader is the part of a [PluginHost] that prepares and loads plugins.
type pluginLoader interface {
	providers.Host
	Prepare(ctx context.Context, spec providers.Spec) error
}

var _ source.ComponentServer = (*PluginHost)(nil)

// ServeComponents implements [source.ComponentServer].
func (h *PluginHost) ServeComponents(next providers.Host, p source.Project, monitor func() stages.Monitor) providers.Host {
	return ServeComponents(next, p, monitor)
}

// preparing is the number of plugins that are installed at the same time.
const preparing = 4

// Prepare installs missing plugins before they are needed, several at the same time, unless that is turned off. A plugin that
// cannot be installed is an error only when it is loaded. Prepare returns the specs that are served by a process, which takes time
// to start.
func (h *PluginHost) Prepare(ctx context.Context, specs []providers.Spec) []providers.Spec {
	b, serves := h.host.(*builtins)
	if serves {
		b.expect(specs)
	}
	if h.options.InstallLate {
		return nil
	}
	installing := pool.New().WithMaxGoroutines(preparing)
	for _, spec := range specs {
		installing.Go(func() { _ = h.host.Prepare(ctx, spec) })
	}
	installing.Wait()
	return slices.DeleteFunc(slices.Clone(specs), func(s providers.Spec) bool { return serves && b.serves(s) })
}

// Identify returns a text that is different whenever another plugin would serve spec, or the same in other circumstances; ok is false if that
// cannot be known. See [plugin.Host.Identify].
func (h *PluginHost) Identify(spec providers.Spec) (identity string, ok bool) {
	b, serves := h.host.(*builtins)
	if !serves || !b.serves(spec) {
		return h.plugins.Identify(spec)
	}
	self, err := os.Executable()
	if err != nil {
		return "", false
	}
	file, err := os.Stat(self)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("built into %s %d %d %q %s", self, file.Size(), file.ModTime().UnixNano(), h.options.Directory, plugin.Circumstances(os.Environ())), true
}

// Close ends every plugin that still runs. It is for leaving in the middle of an operation; an operation that ends
// normally ends its plugins itself.
func (h *PluginHost) Close() error {
	h.mu.Lock()
	loaded := h.loaded
	h.loaded = nil
	h.mu.Unlock()
	closing := pool.New().WithErrors()
	for _, p := range loaded {
		closing.Go(p.Close)
	}
	return closing.Wait()
}

// PackageSchema returns the schema of the package that a recorded provider serves, as JSON. It may start the provider and
// end it again, and does not configure it.
func PackageSchema(ctx context.Context, host providers.Host, provider *state.Resource) (string, error) {
	spec, err := providers.SpecFromInputs(provider.Type, provider.Inputs)
	if err != nil {
		return "", err
	}
	return providers.Schema(ctx, host, spec, nil)
}

// BuiltinsKey is the key of the configuration whose value "false" turns the built-in providers off.
const BuiltinsKey = "sluice:builtinProviders"

// BuiltinProviders lists the packages that are served in process when no plugin of their name is installed.
func BuiltinProviders() []string { return catalog.All().Names() }

// IsBuiltin reports whether a provider is served in process when no plugin of its name is installed.
func IsBuiltin(spec providers.Spec) bool { return catalog.All().Serves(spec) }

func (o PluginOptions) refusesBuiltins() bool {
	return o.NoBuiltins || o.Config[BuiltinsKey].Text == "false"
}

// builtins serves built-in packages in process where no plugin serves them.
type builtins struct {
	plugins *plugin.Host
	catalog native.Catalog
	options native.Options
	debug   tooling.Debug
	note    func(message string, as ...advice.Advice)

	mu    sync.Mutex      // guards exact
	exact map[string]bool // packages that the program uses in a certain version or from a certain place
}

// newBuiltins returns the host of built-in providers and plugins, or that of plugins alone if o turns built-in providers off.
func newBuiltins(o PluginOptions, plugins *plugin.Host) pluginLoader {
	if o.refusesBuiltins() {
		return plugins
	}
	b := &builtins{plugins: plugins, exact: map[string]bool{}, catalog: catalog.All(), note: o.Note, debug: o.Debug, options: native.Options{
		Directory: o.Directory, LookupEnv: o.LookupEnv,
	}}
	if b.options.LookupEnv == nil {
		b.options.LookupEnv = os.LookupEnv
	}
	if b.note == nil {
		b.note = func(string, ...advice.Advice) {}
	}
	if o.service != nil {
		b.options.Log = o.service.nativeMessage
	}
	return b
}

// expect records the packages that the program uses in a certain version or from a certain place.
func (b *builtins) expect(specs []providers.Spec) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, spec := range specs {
		if spec.Exact {
			b.exact[spec.Package] = true
		}
	}
}

// serves reports whether spec is served in process: no plugin of its package or for spec is installed, and the project and the
// program give only the name of the package. If a plugin is installed in another version than the wanted one, the wanted version is
// installed and used: the built-in provider may differ from it.
func (b *builtins) serves(spec providers.Spec) bool {
	b.mu.Lock()
	exact := spec.Exact || b.exact[spec.Package]
	b.mu.Unlock()
	return !exact && b.catalog.Serves(spec) && !b.plugins.Installed(spec.Package)
}

// Prepare makes the plugin for spec available before it is loaded.
func (b *builtins) Prepare(ctx context.Context, spec providers.Spec) error {
	if b.serves(spec) {
		return nil
	}
	return b.plugins.Prepare(ctx, spec)
}

// Load starts a plugin, or the built-in provider if there is none.
func (b *builtins) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	if !b.serves(spec) {
		return b.plugins.Load(ctx, spec)
	}
	if b.debug.Named(spec.Package) {
		return nil, tooling.NoPluginDebugger(spec.Package, "it is built in")
	}
	b.note(fmt.Sprintf("the package %q is built in and needs no plugin", spec.Package),
		advice.Advice{Action: advice.RefuseBuiltins, Plugin: advice.Plugin{Kind: string(plugin.Resource), Name: spec.Package}})
	return b.catalog.Load(spec, b.options), nil
}

// ConverterOptions define how a converter plugin runs.
type ConverterOptions struct {
	// Plugins are the places of the converter, and of the providers whose mappings it uses.
	Plugins PluginOptions
	// Mappings take precedence over the mappings of providers. Their keys are names of the other tool's providers.
	Mappings map[string][]byte
	// Output receives the output of the converter, from several goroutines; nil discards.
	Output func(plugin.Line)
}

// Converter is a running converter plugin. It converts programs and states of another tool, one after the other, and may start and
// install the providers of the packages in them. Built-in providers have no mappings, so these come from plugins.
type Converter struct {
	*convert.Converter
	used []io.Closer // by it
}

// OpenConverter starts the converter plugin of a tool such as "terraform". The caller must Close it. The error is a
// *[plugin.MissingError] if there is none and none could be installed.
func OpenConverter(ctx context.Context, tool string, o ConverterOptions) (*Converter, error) {
	h := openWarning(ctx, o.Plugins)
	described := h.options
	asked := described
	asked.NoBuiltins = true
	mappings := NewPluginHost(asked)
	c := &Converter{used: []io.Closer{mappings, h}}
	mapper := &convert.Mapper{
		Tool: tool, Given: o.Mappings, Host: mappings, Installed: described.providers, Warn: described.Warn,
	}
	options := described.converting(h.Plugins)
	options.Mapper, options.Output = mapper, o.Output
	var err error
	if c.Converter, err = convert.Open(ctx, tool, options); err != nil {
		return nil, errors.Join(err, c.closeUsed())
	}
	return c, nil
}

// Close ends the converter and the providers that it has used.
func (c *Converter) Close() error {
	c.Converter.Close()
	return c.closeUsed()
}

func (c *Converter) closeUsed() error {
	var errs []error
	for _, u := range c.used {
		errs = append(errs, u.Close())
	}
	return errors.Join(errs...)
}

// GenerateProgram writes a program in the language of a runtime, with the language plugin. The error is a *[plugin.MissingError] if
// there is no such plugin and none could be installed: every language needs its own.
func GenerateProgram(ctx context.Context, runtime string, g convert.Generation, o PluginOptions) ([]tooling.Remark, error) {
	h := openWarning(ctx, o)
	list, err := convert.Generate(ctx, runtime, g, h.options.converting(h.Plugins))
	return list, errors.Join(err, h.Close())
}

// openWarning returns a host whose warnings and errors go to Warn of o: outside of operations nothing else shows them.
func openWarning(ctx context.Context, o PluginOptions) *Host {
	h := Open(ctx, o)
	h.Service.Attach(func(m stages.LogMessage) {
		if o.Warn != nil && (m.Severity == stages.Warning || m.Severity == stages.Error) {
			o.Warn(strings.TrimSpace(m.Message))
		}
	})
	return h
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
