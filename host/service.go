package host

import (
	"context"

	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/convert"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/source/loader"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// EngineService is what the engine serves to programs and plugins on the loopback interface. They send their log messages to it
// ([protocol.md 5.1]). With it in its [sluice.Options], an operation receives the messages; outside of operations they are dropped.
// They also request schemas of packages, mappings of names, and packages by what somebody has written ([protocol.md 5.3]). These come from the plugins of
// its [Host]. One service may serve several operations, one after the other.
//
// [protocol.md 5.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#51-engine
// [protocol.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#53-schemas-and-mappings
type EngineService struct {
	server  *engine.Server
	plugins *PluginHost // answers requests for schemas and mappings
}

func newEngineService(ctx context.Context) *EngineService {
	e := &EngineService{}
	e.server = engine.NewServer(ctx, nil, engine.With(e.serveSchemas))
	return e
}

// mappedTool is the default tool of a mapping request that names none.
const mappedTool = "terraform"

// serveSchemas adds the Loader and the Mapper to the server, at the same address.
func (e *EngineService) serveSchemas(r grpc.ServiceRegistrar) {
	loader.Register(r, loader.Options{Providers: providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		return SchemaHost(e.plugins).Load(ctx, spec)
	})})
	codegen.RegisterMapperServer(r, &convert.Mapper{
		Tool: mappedTool, Warn: e.warn,
		Host: providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
			return e.plugins.plugins.Load(ctx, spec) // built-in providers have no mappings
		}),
		Installed: func() []string { return e.plugins.installed() },
	})
	loader.RegisterResolver(r, loader.ResolverOptions{
		Providers: providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
			return SchemaHost(e.plugins).Load(ctx, spec)
		}),
		Local: func(p plugin.ProjectPlugin) providers.Host {
			return e.schemas(func(o PluginOptions) PluginOptions { return o.With(p) })
		},
		Directory: func() string { return e.plugins.options.Directory },
	})
}

// schemas returns a host with other options than those of the service's plugins.
func (e *EngineService) schemas(change func(PluginOptions) PluginOptions) providers.Host {
	return providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		return SchemaHost(NewPluginHost(change(e.plugins.options))).Load(ctx, spec) // the caller closes what it has loaded
	})
}

func (e *EngineService) warn(message string) {
	e.log(stages.LogMessage{Severity: stages.Warning, Message: message + "\n"})
}

func (e *EngineService) log(m stages.LogMessage) { e.server.Log(m) }

// Address returns "127.0.0.1:<port>", the address of all that it serves. The first call begins to listen there.
func (e *EngineService) Address() (string, error) { return e.server.Address() }

// SocketAddress returns the address for clients that can dial Unix sockets, "unix://<path>". Where there can be no such socket, it
// is Address.
func (e *EngineService) SocketAddress() (string, error) { return e.server.SocketAddress() }

// ServeMonitor implements [source.MonitorServer].
func (e *EngineService) ServeMonitor(ctx context.Context, m source.ServedMonitor) source.RunningService {
	return monitor.NewServer(ctx, m)
}

func (e *EngineService) close() error { return e.server.Close() }

// Attach implements [sluice.Service]. At the end of an operation it ends the plugins of which only the schema was needed.
func (e *EngineService) Attach(sink func(stages.LogMessage)) {
	e.server.Attach(sink)
	if sink == nil {
		_ = e.plugins.plugins.EndUnused() // an error of an ending plugin changes nothing
	}
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
