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
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// InstalledPlugins returns the plugins that a host with these options could start, by kind, name and place. It uses only the
// places of plugins in o, and starts nothing.
func InstalledPlugins(o PluginOptions) []plugin.Listing {
	return o.Finder().List()
}

// PluginOptions say where provider plugins are looked for, and what they get from the engine.
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
	// ProjectPackages are the packages of which the project says more than their names. No built-in provider serves one of them.
	ProjectPackages []plugin.ProjectPackage
	// LookupEnv reads the environment; nil is [os.LookupEnv].
	LookupEnv func(name string) (string, bool)
	// Warn is called for plugins that are found in unusual places; nil discards.
	Warn func(message string)
	// Debug says which of the plugins that are written in a program language wait for a debugger.
	Debug source.Debug
	// NoBuiltins turns off the providers that come with the engine and are used where no plugin is installed; so does the
	// key [BuiltinsKey] in Config. Note is called for each use, perhaps from many goroutines; nil discards.
	NoBuiltins bool
	Note       func(message string, as ...advice.Advice)
	// Installer installs plugins that are needed and not there (protocol.md 1.11), after a Note; nil installs none, and so does
	// the variable [install.AcquisitionVariable]. A package that is built in is not installed, unless another version of its plugin is
	// there or built-in providers are turned off.
	Installer *install.Installer
	// InstallLate leaves plugins that are missing until they are needed; otherwise those that are known are installed before the program starts.
	InstallLate bool
	// LogFlags are the arguments that plugins get before their own, which ask them to log. Policy packs, and the plugins that run dynamic
	// providers, do not get them: those of Node.js and Python cannot take them.
	LogFlags []string
	Log      *slog.Logger // nil discards
}

// acquire returns what installs missing plugins; nil if they are not to be installed.
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

// NewInstaller returns an installer that also installs what plugins in source form need, with the runtimes of their languages.
// Where a runtime needs a language plugin that is missing, it installs that, too. Of o the places of plugins, Warn and Note are used.
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
		return runtime.Install(ctx, p, w.Said)
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
	config := plainText(o.Config)
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

// allow refuses to start an executable that was to wait for a debugger.
func (o PluginOptions) allow(name string) error {
	if !o.Debug.Named(name) {
		return nil
	}
	return source.NoPluginDebugger(name, "it is an executable; start it in a debugger yourself, and give its port with PULUMI_DEBUG_PROVIDERS="+name+":PORT")
}

// meant returns the package that somebody may mean who writes a name for which there is not a plugin: one that is installed or built
// in. It returns "" if none is near.
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

// startWritten starts a plugin that is written in a program language. Components in YAML are served in this process, by another
// host.
func (o PluginOptions) startWritten(ctx context.Context, w plugin.Written) (plugin.Server, error) {
	c := source.PluginCommand{
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
		return nil, source.NoPluginDebugger(w.Name, "it is written in YAML, which has no debugger")
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

// RunWritten runs a plugin that is written in a program language and serves nothing, as tools do, at a terminal.
func (o PluginOptions) RunWritten(ctx context.Context, w plugin.Written, f *source.Foreground) error {
	m, err := source.ReadManifest(w.Directory, plugin.Manifest(w.Kind))
	if err != nil {
		return err
	}
	_, err = runtimes.StartPlugin(ctx, m.Project(w.Directory), source.PluginCommand{
		Kind: w.Kind, Name: "pulumi-" + string(w.Kind) + "-" + w.Name, Args: w.Args, Directory: o.Directory, Environment: w.Environment, Foreground: f,
	}, o.runtimes())
	return err
}

// With returns o with a plugin of the project, which takes the place of those of its name.
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

// policies returns what policy packs are run with.
func (o PluginOptions) policies() policy.Options {
	options := policy.Options{Finder: o.Finder(), Acquire: o.acquire(), Debug: o.Debug}
	if o.service != nil {
		options.Engine, options.Schemas = o.service, o.service
	}
	return options
}

// runtimes returns what the choice of a runtime depends on.
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

// pluginLoader is what a [PluginHost] consists of.
type pluginLoader interface {
	providers.Host
	Prepare(ctx context.Context, spec providers.Spec) error
}

var _ source.ComponentServer = (*PluginHost)(nil)

// ServeComponents implements [source.ComponentServer].
func (h *PluginHost) ServeComponents(next providers.Host, p source.Project, monitor func() stages.Monitor) providers.Host {
	return ServeComponents(next, p, monitor)
}

// preparing is how many plugins are installed at the same time.
const preparing = 4

// Prepare installs those of the plugins that are missing, several at the same time, before they are needed, unless that is turned off.
// What cannot be installed is an error only for those who load it. It returns the specs that a process serves, which takes time to
// start.
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

func plainText(c sluice.Config) map[string]string {
	plain := make(map[string]string, len(c))
	for k, v := range c {
		plain[k] = v.Text
	}
	return plain
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

// builtins serves in process what no plugin serves.
type builtins struct {
	plugins *plugin.Host
	catalog native.Catalog
	options native.Options
	debug   source.Debug
	note    func(message string, as ...advice.Advice)

	mu    sync.Mutex      // guards exact
	exact map[string]bool // packages of which the program asks for a certain version or place
}

// newBuiltins returns the host that o asks for: that of plugins alone if built-in providers are turned off.
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

// expect records which packages the program asks for in a certain version or from a certain place.
func (b *builtins) expect(specs []providers.Spec) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, spec := range specs {
		if spec.Exact {
			b.exact[spec.Package] = true
		}
	}
}

// serves reports whether spec is served in process: no plugin of its package is installed, nor is one for it, and neither the project nor
// the program says more about the package than its name. If a plugin is installed in another version than the wanted one, that version
// is: the built-in provider may differ from it in what it can do.
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

// Load prefers a plugin.
func (b *builtins) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	if !b.serves(spec) {
		return b.plugins.Load(ctx, spec)
	}
	if b.debug.Named(spec.Package) {
		return nil, source.NoPluginDebugger(spec.Package, "it is built in")
	}
	b.note(fmt.Sprintf("no plugin for the package %q is installed; the built-in provider is used", spec.Package),
		advice.On(advice.RefuseBuiltins))
	return b.catalog.Load(spec, b.options), nil
}

// ConverterOptions define how a converter plugin runs.
type ConverterOptions struct {
	// Plugins are the places of the converter and of the providers that it asks about.
	Plugins PluginOptions
	// Mappings are mappings of names that take precedence over those of providers, by the name of the other tool's provider.
	Mappings map[string][]byte
	// Output receives what the converter prints, from several goroutines; nil discards.
	Output func(plugin.Line)
}

// Converter is a converter plugin that runs. It converts programs and states of another tool, one after the other, and may start
// and install the providers of the packages that occur in them. Providers that are built in know no other tools, so it asks
// plugins for mappings of names.
type Converter struct {
	*convert.Converter
	used []io.Closer // by it
}

// OpenConverter starts the converter plugin of a tool such as "terraform". The caller must Close it. Errors are a
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

// Close ends the converter and the providers that it has asked about.
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

// GenerateProgram has the language plugin of a runtime write a program in its language. Errors are a *[plugin.MissingError] if
// there is no such plugin and none could be installed: every language needs its own for that.
func GenerateProgram(ctx context.Context, runtime string, g convert.Generation, o PluginOptions) ([]source.Remark, error) {
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

// converting returns what converters and generators need; schemas are those of the host.
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
