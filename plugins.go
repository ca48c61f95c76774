package sluice

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/stages"
)

// EngineService is the gRPC service to which programs and plugins send their log messages, on the loopback interface
// (protocol.md 5.1). Put it into [Options] to let an operation take the messages in; before and after they are dropped.
// One service may serve several operations, one after the other. Make one with [ServeEngine].
type EngineService struct {
	server *engine.Server
	sink   atomic.Pointer[func(stages.LogMessage)] // nil drops
}

// ServeEngine starts the service. The end of ctx stops it like Close, which must be called in any case.
func ServeEngine(ctx context.Context) (*EngineService, error) {
	e := &EngineService{}
	s, err := engine.Serve(ctx, e.log)
	if err != nil {
		return nil, err
	}
	e.server = s
	return e, nil
}

func (e *EngineService) log(m stages.LogMessage) {
	if sink := e.sink.Load(); sink != nil {
		(*sink)(m)
	}
}

// Address is "127.0.0.1:<port>".
func (e *EngineService) Address() string { return e.server.Address() }

// Close stops the service.
func (e *EngineService) Close() error { return e.server.Close() }

// attach lets m take in the messages until the returned function is called.
func (e *EngineService) attach(ctx context.Context, m stages.Monitor) (detach func()) {
	if e == nil {
		return func() {}
	}
	sink := func(message stages.LogMessage) { m.Log(ctx, message) }
	e.sink.Store(&sink)
	return func() { e.sink.Store(nil) }
}

// pluginOutput takes in what plugins print: for people when the plugin runs dynamic providers, which the program's author
// writes, and for debugging otherwise (protocol.md 1.7).
func (e *EngineService) pluginOutput(l plugin.Line) {
	m := stages.LogMessage{Severity: stages.Debug, Message: l.Text + "\n", StreamID: l.Stream}
	if dynamic := l.Plugin == "pulumi-resource-pulumi-nodejs" || l.Plugin == "pulumi-resource-pulumi-python"; dynamic {
		m.Severity = stages.Info
		if l.Stderr {
			m.Severity = stages.InfoErr
		}
	}
	e.log(m)
}

// InstalledPlugins returns the plugins that a host with these options could start, by kind, name and place. Of o the places
// of plugins count. Nothing is started.
func InstalledPlugins(o PluginOptions) []plugin.Listing {
	return plugin.Finder{Project: o.ProjectPlugins, Home: o.Home, LookupEnv: o.LookupEnv}.List()
}

// PluginOptions are what provider plugins are told, and where they are looked for.
type PluginOptions struct {
	// Engine gets the log messages of the plugins.
	Engine *EngineService
	// Directory is the program's directory, in which plugins run; "" is that of the process.
	Directory string
	// Project and RuntimeOptions describe the project; plugins get them in their environment (protocol.md 1.5).
	Project        string
	RuntimeOptions map[string]string
	// Config is the stack's configuration, for the plugins that run dynamic providers.
	Config Config
	// ProjectPlugins win over all others. Home is PULUMI_HOME, whose directory "plugins" is the cache; "" for none.
	ProjectPlugins []plugin.ProjectPlugin
	Home           string
	// LookupEnv reads the environment; nil is [os.LookupEnv].
	LookupEnv func(name string) (string, bool)
	// Warn is told about plugins that are found in surprising places; nil discards.
	Warn func(message string)
	// NoBuiltins turns off the providers that come with the engine and are used where no plugin is installed; so does the
	// key [BuiltinsKey] in Config. Note is told about each use, which may be from many goroutines; nil discards.
	NoBuiltins bool
	Note       func(message string)
	Log        *slog.Logger // nil discards
}

// PluginHost starts provider plugins as processes, and serves some packages itself if no plugin for them is installed (see
// [BuiltinProviders]). It may be used by several operations, one after the other.
type PluginHost struct {
	host providers.Host

	mu     sync.Mutex // guards loaded
	loaded []providers.Provider
}

// NewPluginHost returns the host that finds provider plugins as Pulumi does.
func NewPluginHost(o PluginOptions) *PluginHost {
	config, _ := o.Config.plain()
	options := plugin.Options{
		Directory: o.Directory, Project: o.Project, RuntimeOptions: o.RuntimeOptions, Config: config,
		ProjectPlugins: o.ProjectPlugins, Home: o.Home, LookupEnv: o.LookupEnv, Warn: o.Warn, Log: o.Log,
	}
	if o.Engine != nil {
		options.EngineAddress = o.Engine.Address()
		options.Output = o.Engine.pluginOutput
	}
	return &PluginHost{host: newBuiltins(o, plugin.NewHost(options))}
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

// Close ends every plugin that was started and still runs: for leaving in the middle of an operation, which otherwise
// ends its plugins itself.
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
