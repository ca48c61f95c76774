package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/internal/platform/process"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// Command defines how to start a plugin process.
type Command struct {
	Name        string // in messages: "pulumi-resource-aws"
	Version     string // in messages; "" is the version in the executable, if it has one
	Sources     string // in messages: the folder of a plugin that Executable only interprets; "" for others
	Executable  string
	Args        []string
	Directory   string   // the working directory; "" is that of the engine
	Environment []string // "NAME=value"; of equal names the last counts
	// Output receives the plugin's output after its port. It is called from two goroutines, one for each stream; nil
	// discards.
	Output func(Line)
	// Intercept is called first for each line, those before the port too. It returns true for a line of a tool that runs the plugin
	// rather than of the plugin itself; such a line goes nowhere else. It is called like Output, with the number of the process; nil
	// takes none.
	Intercept func(pid int, line string) bool
	// Done is called once, when the process has ended or could not be started; nil does nothing.
	Done func()
}

// title names the plugin in messages: "pulumi-resource-aws 6.0.0 [/folder/pulumi-resource-aws]".
func (c Command) title() string { return titleOf(c.Name, c.Version, cmp.Or(c.Sources, c.Executable)) }

// titleOf names a plugin in messages. The version and the location may be "".
func titleOf(name, version, place string) string {
	if version != "" {
		name += " " + version
	}
	if place != "" {
		name += " [" + place + "]"
	}
	return name
}

// Process is a running plugin process. It is the leader of its own process group, so that an interrupt at the terminal
// reaches only the engine and a kill reaches all processes that the plugin started ([protocol.md 1.5]).
//
// [protocol.md 1.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#15-launching
type Process struct {
	title string
	cmd   *exec.Cmd
	group *process.Group
	port  *await.Promise[int]
	// exited is decided when the process has ended.
	exited   *await.Promise[*ExitError]
	stopped  atomic.Bool // by the engine
	last     Tail
	watchers conc.WaitGroup
}

// ExitError describes how a plugin process ended. Output are its last lines.
type ExitError struct {
	Plugin  string
	Status  string // "exit status 2", "signal: killed"
	Output  string
	Stopped bool // the engine ended it
}

func (e *ExitError) Error() string {
	if e.Stopped {
		return fmt.Sprintf("plugin %s was stopped", e.Plugin)
	}
	msg := fmt.Sprintf("plugin %s ended unexpectedly (%s); this is a bug in the plugin", e.Plugin, e.Status)
	if e.Output != "" {
		msg += "\n" + e.Output
	}
	return msg
}

// streams numbers output streams; only differences between the numbers matter.
type streams struct{ n atomic.Int32 }

const (
	// stopPatience is how long a plugin may take to end after it was interrupted (protocol.md 1.13).
	stopPatience = 5 * time.Second
	// outputPatience is how long output that may still be on its way is waited for.
	outputPatience = 250 * time.Millisecond
)

// Start starts a process. The caller must call [Process.Stop].
func Start(c Command) (*Process, error) { return start(c, &streams{}) }

func start(c Command, s *streams) (*Process, error) {
	p, err := startProcess(c, s)
	switch {
	case c.Done == nil:
	case err != nil:
		c.Done()
	default:
		p.OnExit(c.Done)
	}
	return p, err
}

func startProcess(c Command, s *streams) (*Process, error) {
	if c.Version == "" && c.Sources == "" {
		c.Version = builtVersion(c.Executable)
	}
	p := &Process{title: c.title(), port: await.NewPromise[int](), exited: await.NewPromise[*ExitError]()}
	stdout, stdoutEnd, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("plugin %s cannot be started: %w", c.title(), err)
	}
	stderr, stderrEnd, err := os.Pipe()
	if err != nil {
		closeAll(stdout, stdoutEnd)
		return nil, fmt.Errorf("plugin %s cannot be started: %w", c.title(), err)
	}
	p.cmd = exec.Command(c.Executable, c.Args...)
	p.cmd.Dir, p.cmd.Env = c.Directory, c.Environment
	p.cmd.Stdout, p.cmd.Stderr = stdoutEnd, stderrEnd
	p.group, err = process.Start(p.cmd)
	closeAll(stdoutEnd, stderrEnd)
	if err != nil {
		closeAll(stdout, stderr)
		return nil, fmt.Errorf("plugin %s cannot be started: %w", c.title(), err)
	}
	p.watch(c, stdout, stderr, p.emitter(c, s, false), p.emitter(c, s, true))
	return p, nil
}

// intercepts reports whether a line is not from the process itself.
func (c Command) intercepts(pid int, p Piece) bool {
	return c.Intercept != nil && !p.Cut && !p.Rest && c.Intercept(pid, p.Text)
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func (p *Process) emitter(c Command, s *streams, isStderr bool) func(Piece) {
	stream := s.n.Add(1)
	return func(piece Piece) {
		if c.intercepts(p.PID(), piece) {
			return
		}
		line := Line{Piece: piece, Plugin: c.Name, Stderr: isStderr, Stream: stream}
		p.last.Add(line)
		if c.Output != nil {
			c.Output(line)
		}
	}
}

// watch reads both streams and waits for the process. Lines that are forwarded before the process is known to have
// ended are part of the message about its end.
func (p *Process) watch(c Command, stdout, stderr *os.File, out, errs func(Piece)) {
	outDone, errDone := await.NewEvent(), await.NewEvent()
	p.watchers.Go(func() {
		defer outDone.Fire()
		p.port.Decide(readPort(stdout, func(line string) bool { return c.intercepts(p.PID(), Piece{Text: line}) }))
		forward(stdout, out)
	})
	p.watchers.Go(func() {
		defer errDone.Fire()
		forward(stderr, errs)
	})
	p.watchers.Go(func() {
		err := p.cmd.Wait()
		// All processes of the plugin end with it. Later the group's number may belong to another process.
		p.group.Kill()
		p.group.Release()
		drain(stdout, outDone)
		drain(stderr, errDone)
		closeAll(stdout, stderr)
		// Everything that was read is passed on, unless its receiver takes nothing.
		patience, cancel := context.WithTimeout(context.Background(), drainPatience)
		defer cancel()
		_ = outDone.Wait(patience)
		_ = errDone.Wait(patience)
		status := "exit status 0"
		if err != nil {
			status = err.Error()
		}
		p.exited.Resolve(&ExitError{
			Plugin: p.title, Status: status, Output: p.last.Text("its last output was:"), Stopped: p.stopped.Load(),
		})
	})
}

// Port returns the TCP port that the plugin wrote. It waits as long as ctx allows: the first start of a language's tools
// may take minutes ([protocol.md 1.6]). Errors name the plugin and contain its output on stderr.
//
// [protocol.md 1.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#16-the-port
func (p *Process) Port(ctx context.Context) (int, error) {
	port, err := p.port.Wait(ctx)
	if err == nil {
		return port, nil
	}
	var invalid *invalidPortError
	if errors.As(err, &invalid) {
		// Its output on stderr may still be on its way; most plugins end now.
		patience, cancel := context.WithTimeout(ctx, outputPatience)
		defer cancel()
		_, _ = p.exited.Wait(patience)
		return 0, fmt.Errorf("plugin %s %w%s", p.title, invalid, p.below())
	}
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return 0, fmt.Errorf("plugin %s has not written its port in time%s", p.title, p.below())
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("plugin %s has not written its port: %w%s", p.title, context.Cause(ctx), p.below())
	}
	patience, cancel := context.WithTimeout(ctx, exitPatience)
	defer cancel()
	if exit, gone := p.exited.Wait(patience); gone == nil {
		return 0, fmt.Errorf("plugin %s ended with %s before it wrote its port%s", p.title, exit.Status, p.below())
	}
	if errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("plugin %s closed its stdout before it wrote its port there%s", p.title, p.below())
	}
	return 0, fmt.Errorf("cannot read the port of plugin %s: %w%s", p.title, err, p.below())
}

// Title names the plugin in messages.
func (p *Process) Title() string { return p.title }

// LastOutput returns the last lines that the plugin wrote.
func (p *Process) LastOutput() string { return p.last.Text("it wrote:") }

func (p *Process) below() string { return below(p.LastOutput()) }

// below formats a text to stand below another one.
func below(text string) string {
	if text == "" {
		return ""
	}
	return "\n" + text
}

// PID returns the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited returns an *[ExitError] once the process has ended, and nil before.
func (p *Process) Exited() error {
	if !p.exited.Decided() {
		return nil
	}
	return p.AwaitExit(context.Background())
}

// AwaitExit returns an *[ExitError] once the process has ended, and nil if ctx ends before.
func (p *Process) AwaitExit(ctx context.Context) error {
	exit, err := p.exited.Wait(ctx)
	if err != nil {
		return nil //nolint:nilerr // the process still runs
	}
	return exit
}

// OnExit calls f once the process has ended. The process must not be stopped at the same time.
func (p *Process) OnExit(f func()) {
	p.watchers.Go(func() {
		_, _ = p.exited.Wait(context.Background())
		f()
	})
}

// Stop ends the process: an interrupt, and after five seconds a kill of its whole group. It returns when the process
// has ended and its output has been forwarded. It may be called more than once.
func (p *Process) Stop() { p.stop(stopPatience) }

// Kill ends the process at once.
func (p *Process) Kill() { p.stop(0) }

func (p *Process) stop(patience time.Duration) {
	p.stopped.Store(true)
	if patience > 0 && !p.exited.Decided() {
		p.group.Interrupt()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, _ = p.exited.Wait(ctx)
		cancel()
	}
	if !p.exited.Decided() {
		p.group.Kill()
	}
	p.watchers.Wait()
}

// mergeEnvironment returns base with more added; a later name replaces an earlier one. It keeps the order.
func mergeEnvironment(base []string, more map[string]string) []string {
	out := make([]string, 0, len(base)+len(more))
	for _, pair := range base {
		name, _, _ := strings.Cut(pair, "=")
		if _, replaced := more[name]; !replaced {
			out = append(out, pair)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(more)) {
		out = append(out, name+"="+more[name])
	}
	return out
}
