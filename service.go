package sluice

import (
	"context"
	"sync/atomic"

	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/stages"
)

// EngineService is the gRPC service to which programs and plugins send their log messages, on the loopback interface
// (protocol.md 5.1). With it in its [Options], an operation receives the messages; outside of operations they are dropped.
// One service may serve several operations, one after the other. Make one with [ServeEngine].
type EngineService struct {
	server *engine.Server
	sink   atomic.Pointer[func(stages.LogMessage)] // nil drops
}

// ServeEngine returns a new service. It listens when the first program or plugin is started that gets its address. The end of
// ctx stops it as Close does. Close must be called in any case.
func ServeEngine(ctx context.Context) *EngineService {
	e := &EngineService{}
	e.server = engine.NewServer(ctx, e.log)
	return e
}

func (e *EngineService) log(m stages.LogMessage) {
	if sink := e.sink.Load(); sink != nil {
		(*sink)(m)
	}
}

// Address returns "127.0.0.1:<port>". The first call begins to listen there.
func (e *EngineService) Address() (string, error) { return e.server.Address() }

// SocketAddress returns the address for those who can dial Unix sockets, "unix://<path>". Where there can be no such socket, it
// is Address.
func (e *EngineService) SocketAddress() (string, error) { return e.server.SocketAddress() }

// Close stops the service.
func (e *EngineService) Close() error { return e.server.Close() }

// attach makes sink receive the messages; nil drops them.
func (e *EngineService) attach(sink func(stages.LogMessage)) {
	switch {
	case e == nil:
	case sink == nil:
		e.sink.Store(nil)
	default:
		e.sink.Store(&sink)
	}
}

// pluginOutput receives what plugins print: for people when the plugin runs dynamic providers, which the program's author
// writes, and for debugging otherwise (protocol.md 1.7).
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

// progress shows what is of interest only until the next message.
func (e *EngineService) progress(text string) {
	e.log(stages.LogMessage{Severity: stages.Info, Message: text, Ephemeral: true})
}
