package host

import (
	"context"
	"sync/atomic"

	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/convert"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/source/loader"
	"github.com/sluice-iac/sluice/stages"
)

// EngineService is the engine's service for programs and plugins, on the loopback interface. They send their log messages to it
// (protocol.md 5.1). An operation with the service in its [sluice.Options] receives the messages; outside of operations they are
// dropped. The service also answers requests for schemas of packages, for mappings of names, and for the package that a text names
// (protocol.md 5.3), with the plugins of the first [PluginHost] with this service that is not closed. One service may serve several
// operations, one after the other. Make one with [ServeEngine].
type EngineService struct {
	server *engine.Server
	sink   atomic.Pointer[func(stages.LogMessage)] // nil drops
	host   atomic.Pointer[PluginHost]              // answers requests for schemas and mappings
}

// ServeEngine returns a new service. It begins to listen when a program or plugin first needs its address. The end of ctx stops it
// as Close does. Close must be called in any case.
func ServeEngine(ctx context.Context) *EngineService {
	e := &EngineService{}
	e.server = engine.NewServer(ctx, e.log, engine.With(e.serveSchemas))
	return e
}

// mappedTool is the default tool of a mapping request that names none.
const mappedTool = "terraform"

// errNoPlugins answers requests for schemas while no plugins are in use.
var errNoPlugins = status.Error(codes.Unavailable, "the engine uses no plugins at the moment, and knows no schemas")

// serveSchemas adds the Loader and the Mapper to the server, at the same address.
func (e *EngineService) serveSchemas(r grpc.ServiceRegistrar) {
	loader.Register(r, loader.Options{Providers: providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		h := e.host.Load()
		if h == nil {
			return nil, errNoPlugins
		}
		return SchemaHost(h).Load(ctx, spec)
	})})
	codegen.RegisterMapperServer(r, &convert.Mapper{
		Tool: mappedTool, Warn: e.warn,
		Host: providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
			h := e.host.Load()
			if h == nil {
				return nil, errNoPlugins
			}
			return h.plugins.Load(ctx, spec) // built-in providers have no mappings
		}),
		Installed: func() []string {
			if h := e.host.Load(); h != nil {
				return h.installed()
			}
			return nil
		},
	})
	loader.RegisterResolver(r, e.resolves())
}

// resolves returns the options for finding the package that a text names.
func (e *EngineService) resolves() loader.ResolverOptions {
	with := func(change func(PluginOptions) PluginOptions) providers.Host {
		return providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
			h := e.host.Load()
			if h == nil {
				return nil, errNoPlugins
			}
			if change != nil {
				h = NewPluginHost(change(h.options)) // the caller of Load closes what it starts
			}
			return SchemaHost(h).Load(ctx, spec)
		})
	}
	return loader.ResolverOptions{
		Providers: with(nil),
		Local: func(p plugin.ProjectPlugin) providers.Host {
			return with(func(o PluginOptions) PluginOptions { return o.With(p) })
		},
		Directory: func() string {
			if h := e.host.Load(); h != nil {
				return h.options.Directory
			}
			return ""
		},
	}
}

func (e *EngineService) warn(message string) {
	e.log(stages.LogMessage{Severity: stages.Warning, Message: message + "\n"})
}

func (e *EngineService) log(m stages.LogMessage) {
	if sink := e.sink.Load(); sink != nil {
		(*sink)(m)
	}
}

// Address returns "127.0.0.1:<port>", the address of all that it serves. The first call begins to listen there.
func (e *EngineService) Address() (string, error) { return e.server.Address() }

// SocketAddress returns the address for clients that can dial Unix sockets, "unix://<path>". Where there can be no such socket, it
// is Address.
func (e *EngineService) SocketAddress() (string, error) { return e.server.SocketAddress() }

// Close stops the service.
func (e *EngineService) Close() error { return e.server.Close() }

// Attach implements [sluice.Service].
func (e *EngineService) Attach(sink func(stages.LogMessage)) {
	if sink == nil {
		e.sink.Store(nil)
		return
	}
	e.sink.Store(&sink)
}

// pluginOutput receives the output of plugins: for people if the plugin runs dynamic providers, which the program's author writes,
// and for debugging otherwise (protocol.md 1.7).
func (e *EngineService) pluginOutput(l plugin.Line) {
	m := stages.LogMessage{Severity: stages.Debug, Message: l.Text, StreamID: l.Stream}
	if !l.Cut {
		m.Message += "\n"
	}
	if dynamic := l.Plugin == "pulumi-resource-pulumi-nodejs" || l.Plugin == "pulumi-resource-pulumi-python"; dynamic {
		m.Severity = stages.Info
		if l.Stderr {
			m.Severity = stages.InfoErr
		}
	}
	e.log(m)
}

func (e *EngineService) nativeMessage(m native.Message) {
	out := stages.LogMessage{Severity: stages.Info, Message: m.Text, URN: m.URN, Ephemeral: !m.Warning}
	if m.Warning {
		out.Severity = stages.Warning
	}
	e.log(out)
}

// progress shows a text that is of interest only until the next message.
func (e *EngineService) progress(text string) {
	e.log(stages.LogMessage{Severity: stages.Info, Message: text, Ephemeral: true})
}
