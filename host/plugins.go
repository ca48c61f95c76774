package host

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

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

	mu   sync.Mutex // guards open
	open map[*loaded]struct{}
}

// loaded is a provider that the host closes unless its caller does. A closed one is forgotten: it holds the last output of its plugin, and a host may
// load many for one operation after the other.
type loaded struct {
	providers.Provider
	host *PluginHost
}

// Close closes the provider. The host, which may be closed at the same time, waits for it.
func (l *loaded) Close() error {
	err := l.Provider.Close()
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	delete(l.host.open, l)
	return err
}

// NewPluginHost returns the host that finds provider plugins as Pulumi does. It need not be closed if the caller closes what it loads.
func NewPluginHost(o PluginOptions) *PluginHost { return newPluginHost(o, false) }

// newPluginHost is NewPluginHost. For shares see [plugin.Options]; a host that shares must be closed.
func newPluginHost(o PluginOptions, shares bool) *PluginHost {
	config, _ := o.Config.Values()
	options := plugin.Options{
		Directory: o.Directory, Project: o.Project, RuntimeOptions: o.RuntimeOptions, Config: config,
		ProjectPlugins: o.ProjectPlugins, ProjectPackages: o.ProjectPackages, Home: o.Home, LookupEnv: o.LookupEnv, Warn: o.Warn, Log: o.Log,
		Acquire: o.acquire(), StartWritten: o.startWritten, Allow: o.allow, Meant: o.meant, LogFlags: o.LogFlags, Shares: shares, Keeps: shares && o.KeepPlugins,
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

// Load starts a plugin.
func (h *PluginHost) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	p, err := h.host.Load(ctx, spec)
	if err != nil {
		return nil, err
	}
	l := &loaded{Provider: p, host: h}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open = map[*loaded]struct{}{}
	}
	h.open[l] = struct{}{}
	return l, nil
}

// pluginLoader is the part of a [PluginHost] that prepares and loads plugins.
type pluginLoader interface {
	providers.Host
	Prepare(ctx context.Context, spec providers.Spec) error
}

var (
	_ source.ComponentServer = (*PluginHost)(nil)
	_ source.MonitorServer   = (*PluginHost)(nil)
)

// ServeComponents implements [source.ComponentServer].
func (h *PluginHost) ServeComponents(next providers.Host, p source.Project, monitor func() stages.Monitor) providers.Host {
	return ServeComponents(next, p, monitor)
}

// ServeMonitor implements [source.MonitorServer].
func (h *PluginHost) ServeMonitor(ctx context.Context, m source.ServedMonitor) source.RunningService {
	return monitor.NewServer(ctx, m)
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
	open := slices.Collect(maps.Keys(h.open))
	h.mu.Unlock()
	closing := pool.New().WithErrors()
	for _, l := range open {
		closing.Go(l.Close)
	}
	closing.Go(h.plugins.Close)
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
