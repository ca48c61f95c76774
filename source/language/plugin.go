package language

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Plugin is a plugin in source form that a language plugin runs ([protocol.md 1.10]).
//
// [protocol.md 1.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#110-plugins-in-a-language
type Plugin struct {
	name    string
	sources string // the folder
	host    *host
	port    int
	cancel  context.CancelFunc
	reader  conc.WaitGroup
	// exited ends with a *plugin.ExitError as its cause when the plugin has ended.
	exited  context.Context
	exit    context.CancelCauseFunc
	out     [2]plugin.Splitter // standard output and standard error
	first   *plugin.Piece      // of standard output: the port; nil before it is written
	last    plugin.Tail
	receive func(plugin.Line) // nil discards
}

// startPlugin starts the language plugin of o and makes it run the plugin in p's directory. It returns when the plugin has written its
// port, which may take minutes. The caller must Stop the plugin. The error is [tooling.ErrNoPlugins] if the language plugin runs only
// programs.
func startPlugin(ctx context.Context, p source.Project, o Options, c tooling.PluginCommand) (*Plugin, error) {
	info, err := New(p, o).info()
	if err != nil {
		return nil, err
	}
	engine, err := source.AddressOf(o.Engine)
	if err != nil {
		return nil, err
	}
	schemas, err := source.AddressOf(o.Schemas)
	if err != nil {
		return nil, err
	}
	h, err := startHost(ctx, p, o, engine, func(plugin.Line) {})
	if err != nil {
		return nil, err
	}
	x := &Plugin{name: c.Name, sources: p.Directory, host: h, receive: c.Output}
	x.out[0].Emit, x.out[1].Emit = x.stdout, x.stderr
	x.exited, x.exit = context.WithCancelCause(context.WithoutCancel(ctx))
	var running context.Context
	running, x.cancel = context.WithCancel(x.exited)
	release := context.AfterFunc(ctx, x.cancel)
	defer release()
	stream, err := h.client.RunPlugin(running, &pulumirpc.RunPluginRequest{
		Pwd: cmp.Or(c.Directory, p.Directory), Args: c.Args, Env: c.Environment, Info: info, Kind: string(c.Kind), Name: c.Name,
		AttachDebugger: c.Debug != nil, LoaderTarget: schemas,
	})
	switch {
	case err != nil:
	case c.Foreground != nil:
		err = x.show(stream, c.Foreground)
	default:
		err = x.awaitPort(stream)
	}
	if err != nil || c.Foreground != nil {
		x.Stop()
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if status.Code(err) == codes.Unimplemented {
			return nil, tooling.ErrNoPlugins
		}
		return nil, err // nil for a plugin in the foreground, which has ended
	}
	x.reader.Go(func() { x.follow(stream) })
	return x, nil
}

type pluginStream = grpc.ServerStreamingClient[pulumirpc.RunPluginResponse]

// awaitPort reads until the plugin has written its port.
func (x *Plugin) awaitPort(stream pluginStream) error {
	for {
		m, err := stream.Recv()
		if err != nil && status.Code(err) == codes.Unimplemented {
			return err
		}
		ended := x.take(m, err)
		if x.first != nil {
			x.port, err = plugin.ParsePort(x.first.Text)
			if err != nil {
				return fmt.Errorf("plugin %s %w%s", x.Title(), err, x.output("it wrote:"))
			}
			return nil
		}
		if ended != nil {
			return fmt.Errorf("plugin %s ended with %s before it wrote its port%s", x.Title(), ended.Status, x.output("it wrote:"))
		}
	}
}

// show passes on the output of the plugin, until it has ended.
func (x *Plugin) show(stream pluginStream, f *tooling.Foreground) error {
	for {
		m, err := stream.Recv()
		if err != nil {
			return err
		}
		switch o := m.GetOutput().(type) {
		case *pulumirpc.RunPluginResponse_Stdout:
			_, err = f.Out.Write(o.Stdout)
		case *pulumirpc.RunPluginResponse_Stderr:
			_, err = f.Err.Write(o.Stderr)
		case *pulumirpc.RunPluginResponse_Exitcode:
			f.Status = int(o.Exitcode)
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// follow reads until the plugin has ended.
func (x *Plugin) follow(stream pluginStream) {
	for {
		m, err := stream.Recv()
		ended := x.take(m, err)
		if ended != nil {
			ended.Output = strings.TrimPrefix(x.output("its last output was:"), "\n")
			x.exit(ended)
			return
		}
	}
}

// take processes one message, and returns the exit of the plugin if it has ended.
func (x *Plugin) take(m *pulumirpc.RunPluginResponse, err error) *plugin.ExitError {
	if err != nil {
		return &plugin.ExitError{Plugin: x.Title(), Status: status.Convert(err).Message()}
	}
	switch o := m.GetOutput().(type) {
	case *pulumirpc.RunPluginResponse_Stdout:
		_, _ = x.out[0].Write(o.Stdout) // never fails
	case *pulumirpc.RunPluginResponse_Stderr:
		_, _ = x.out[1].Write(o.Stderr)
	case *pulumirpc.RunPluginResponse_Exitcode:
		return &plugin.ExitError{Plugin: x.Title(), Status: fmt.Sprintf("exit status %d", o.Exitcode)}
	}
	return nil
}

// stdout takes a line of standard output. The first one is the port.
func (x *Plugin) stdout(p plugin.Piece) {
	if x.first == nil {
		x.first = &p
		return
	}
	x.say(plugin.Line{Piece: p, Plugin: x.name, Stream: 1})
}

func (x *Plugin) stderr(p plugin.Piece) {
	x.say(plugin.Line{Piece: p, Plugin: x.name, Stderr: true, Stream: 2})
}

func (x *Plugin) say(l plugin.Line) {
	x.last.Add(l)
	if x.receive != nil {
		x.receive(l)
	}
}

// output returns the last output below a heading; "" if there is none. Nothing may be written to x.out afterwards.
func (x *Plugin) output(heading string) string {
	for i := range x.out {
		x.out[i].End()
	}
	if text := x.last.Text(heading); text != "" {
		return "\n" + terminal.Plain(text)
	}
	return ""
}

// Title returns the name of the plugin for messages, with the folder of its sources.
func (x *Plugin) Title() string { return x.name + " [" + x.sources + "]" }

// LastOutput returns the last lines of the plugin's output.
func (x *Plugin) LastOutput() string { return terminal.Plain(x.last.Text("it wrote:")) }

// Port returns the TCP port on which the plugin serves.
func (x *Plugin) Port(context.Context) (int, error) { return x.port, nil }

// Exited returns a *plugin.ExitError once the plugin has ended, and nil before.
func (x *Plugin) Exited() error { return context.Cause(x.exited) }

// OnExit calls f once the plugin has ended. The plugin must not be stopped at the same time.
func (x *Plugin) OnExit(f func()) {
	x.reader.Go(func() {
		<-x.exited.Done()
		f()
	})
}

// AwaitExit returns a *plugin.ExitError once the plugin has ended, and nil if ctx ends before.
func (x *Plugin) AwaitExit(ctx context.Context) error {
	select {
	case <-x.exited.Done():
	case <-ctx.Done():
	}
	return context.Cause(x.exited)
}

// Stop ends the plugin and the language plugin that runs it.
func (x *Plugin) Stop() {
	x.cancel()
	x.host.stop()
	x.exit(&plugin.ExitError{Plugin: x.Title(), Status: "stopped", Stopped: true})
	x.reader.Wait()
}

// Kill ends the plugin as Stop does: the language plugin decides how.
func (x *Plugin) Kill() { x.Stop() }
