package language

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/terminal"
)

// Plugin is a plugin written in a program language, which a language plugin runs (protocol.md 1.10).
type Plugin struct {
	name   string
	host   *host
	port   int
	cancel context.CancelFunc
	reader conc.WaitGroup
	// exited ends with a *plugin.ExitError as its cause when the plugin has ended.
	exited context.Context
	exit   context.CancelCauseFunc
	out    [2]lines // standard output and standard error
	last   []string
	said   func(plugin.Line)
}

// startPlugin starts the language plugin that o names and has it run the plugin in p's directory, until that has written
// its port; which may take minutes. The caller must Stop what is returned. Its error is [source.ErrNoPlugins] if the language
// plugin cannot do that.
func startPlugin(ctx context.Context, p source.Project, o Options, c source.PluginCommand) (*Plugin, error) {
	info, err := New(p, o).info()
	if err != nil {
		return nil, err
	}
	engine, err := source.AddressOf(o.Engine)
	if err != nil {
		return nil, err
	}
	h, err := startHost(ctx, p, o, engine, func(plugin.Line) {})
	if err != nil {
		return nil, err
	}
	x := &Plugin{name: c.Name, host: h, said: c.Output}
	x.exited, x.exit = context.WithCancelCause(context.WithoutCancel(ctx))
	var running context.Context
	running, x.cancel = context.WithCancel(x.exited)
	release := context.AfterFunc(ctx, x.cancel)
	defer release()
	stream, err := h.client.RunPlugin(running, &pulumirpc.RunPluginRequest{
		Pwd: cmp.Or(c.Directory, p.Directory), Args: c.Args, Env: c.Environment, Info: info, Kind: string(c.Kind), Name: c.Name,
	})
	if err == nil {
		err = x.awaitPort(stream)
	}
	if err != nil {
		x.Stop()
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		if status.Code(err) == codes.Unimplemented {
			return nil, source.ErrNoPlugins
		}
		return nil, err
	}
	x.reader.Go(func() { x.follow(stream) })
	return x, nil
}

type pluginStream = grpc.ServerStreamingClient[pulumirpc.RunPluginResponse]

// awaitPort reads until the plugin has told its port.
func (x *Plugin) awaitPort(stream pluginStream) error {
	for {
		m, err := stream.Recv()
		if err != nil && status.Code(err) == codes.Unimplemented {
			return err
		}
		ended := x.take(m, err)
		if line, ok := x.out[0].next(); ok {
			x.port, err = plugin.ParsePort(line)
			if err != nil {
				return fmt.Errorf("%s %w%s", x.name, err, x.output("it wrote:"))
			}
			x.show()
			return nil
		}
		if ended != nil {
			return fmt.Errorf("it ended with %s before it wrote its port%s", ended.Status, x.output("it wrote:"))
		}
	}
}

// follow reads until the plugin has ended.
func (x *Plugin) follow(stream pluginStream) {
	for {
		m, err := stream.Recv()
		ended := x.take(m, err)
		x.show()
		if ended != nil {
			ended.Output = strings.TrimPrefix(x.output("its last output was:"), "\n")
			x.exit(ended)
			return
		}
	}
}

// take processes one message, and returns how the plugin ended if it has.
func (x *Plugin) take(m *pulumirpc.RunPluginResponse, err error) *plugin.ExitError {
	if err != nil {
		return &plugin.ExitError{Plugin: x.name, Status: status.Convert(err).Message()}
	}
	switch o := m.GetOutput().(type) {
	case *pulumirpc.RunPluginResponse_Stdout:
		x.out[0].add(o.Stdout)
	case *pulumirpc.RunPluginResponse_Stderr:
		x.out[1].add(o.Stderr)
	case *pulumirpc.RunPluginResponse_Exitcode:
		return &plugin.ExitError{Plugin: x.name, Status: fmt.Sprintf("exit status %d", o.Exitcode)}
	}
	return nil
}

// maxLast is how many lines are kept for the message about the end.
const maxLast = 40

// show forwards the lines that are complete.
func (x *Plugin) show() {
	for i := range x.out {
		for line, ok := x.out[i].next(); ok; line, ok = x.out[i].next() {
			if strings.TrimSpace(line) == "" {
				continue
			}
			x.last = append(x.last, line)[max(0, len(x.last)+1-maxLast):]
			if x.said != nil {
				x.said(plugin.Line{Plugin: x.name, Text: line, Stderr: i == 1, Stream: int32(i + 1)})
			}
		}
	}
}

// output is what was said last, below a heading; "" when there is nothing.
func (x *Plugin) output(heading string) string {
	x.said = nil
	for i := range x.out {
		x.out[i].finish()
	}
	x.show()
	if len(x.last) == 0 {
		return ""
	}
	return "\n" + heading + "\n  " + terminal.Plain(strings.Join(x.last, "\n  "))
}

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

// ExitedWithin returns a *plugin.ExitError if the plugin has ended, or ends within that time.
func (x *Plugin) ExitedWithin(patience time.Duration) error {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-x.exited.Done():
	case <-t.C:
	}
	return context.Cause(x.exited)
}

// Stop ends the plugin and the language plugin that runs it.
func (x *Plugin) Stop() {
	x.cancel()
	x.host.stop()
	x.exit(&plugin.ExitError{Plugin: x.name, Status: "stopped", Stopped: true})
	x.reader.Wait()
}

// Kill ends the plugin as Stop does: the language plugin decides how.
func (x *Plugin) Kill() { x.Stop() }

// lines puts lines together from pieces.
type lines struct{ rest []byte }

func (l *lines) add(b []byte) { l.rest = append(l.rest, b...) }

// finish ends a line that has not been ended.
func (l *lines) finish() {
	if len(l.rest) > 0 && !bytes.HasSuffix(l.rest, []byte("\n")) {
		l.rest = append(l.rest, '\n')
	}
}

// next returns the next complete line, without its end.
func (l *lines) next() (string, bool) {
	line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
	if !ok {
		return "", false
	}
	l.rest = rest
	return strings.TrimRight(string(line), "\r"), true
}
