package language

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
)

// cancelPatience is the time that a plugin has to end its program after Cancel.
const cancelPatience = 5 * time.Second

// Options select the plugin that runs a program.
type Options struct {
	// Executable is the path of the plugin, and Version its version for messages, "" if unknown. They are not used when Port is given.
	Executable, Version string
	// Locate returns the place of the plugin. It is called when the plugin is first needed, and may take long. If it is not nil, Executable
	// is not used.
	Locate func(ctx context.Context) (plugin.Location, error)
	// Port is the port of a plugin that runs already, for example under a debugger. Such a plugin is never stopped.
	Port int
	// Inline is true if the process on Port is not a language plugin but a caller with the program as functions of its own. It takes the
	// address of the Engine service as the program's first argument, and has no handshake.
	Inline bool
	// LogFlags are the arguments of the plugin before the address of the engine.
	LogFlags []string
	// Engine is the Engine service, whose address the plugin gets when it is started; nil when there is none. A run whose Host has another
	// Engine service starts the plugin again.
	Engine source.Service
	// Schemas serves the Loader and the Mapper, whose address programs and plugins get; nil when there are none.
	Schemas source.Service
}

// Program is a program that a language plugin runs. The plugin is started by the first call that needs it and kept until a run has
// ended, or until Close.
type Program struct {
	project source.Project
	options Options
	output  direct.Backlog // holds the output of the language plugin between runs for the next one

	mu   sync.Mutex // guards host; held while the plugin is started
	host *host
}

// New returns the program of a project.
func New(p source.Project, o Options) *Program {
	return &Program{project: p, options: o}
}

var _ source.Program = (*Program)(nil)

// Packages returns the packages that the plugin lists for the program.
func (p *Program) Packages(ctx context.Context) ([]stages.Package, error) {
	h, err := p.start(ctx, p.options.Engine)
	if err != nil {
		return nil, err
	}
	info, err := p.info()
	if err != nil {
		return nil, err
	}
	list, err := h.packages(ctx, info)
	if err != nil {
		return nil, p.failed(ctx, h, "list the packages of", err)
	}
	return list, nil
}

const running = "run"

// Run runs the program once. At the end of ctx it makes the plugin end the program.
func (p *Program) Run(ctx context.Context, host source.Host) error {
	p.output.ShowTo(direct.Forward(func(m stages.LogMessage) { host.Monitor.Log(ctx, m) }, p.project.Program()))
	defer p.output.Hold()
	h, err := p.start(ctx, host.Engine)
	if err != nil {
		return err
	}
	req, err := p.request(host, h.engine)
	if err != nil {
		return err
	}
	reply, err := h.run(ctx, req)
	if err != nil {
		return p.failed(ctx, h, running, err)
	}
	p.finish(h)
	switch {
	case reply.GetBail():
		return fmt.Errorf("%s: %w", p.project.Program(), source.ErrReported)
	case reply.GetError() != "":
		return fmt.Errorf("an unhandled error occurred: %s", terminal.Plain(reply.GetError()))
	}
	return nil
}

// finish stops a plugin that has run the program. The program's output comes through the plugin's, which is complete only when the plugin
// has ended: a last line without a line break may still be missing.
func (p *Program) finish(h *host) {
	if h.process == nil {
		return
	}
	p.mu.Lock()
	if p.host == h {
		p.host = nil
	}
	p.mu.Unlock()
	h.stop()
}

// ServeMonitor implements [source.MonitorServer].
func (p *Program) ServeMonitor(ctx context.Context, m source.ServedMonitor) source.RunningService {
	return monitor.NewServer(ctx, m)
}

// Close stops the plugin.
func (p *Program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host != nil {
		p.host.stop()
		p.host = nil
	}
	return nil
}

// start returns the running plugin.
func (p *Program) start(ctx context.Context, service source.Service) (*host, error) {
	engine, err := source.AddressOf(service)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host != nil && p.host.engine == engine {
		return p.host, nil
	}
	if p.host != nil {
		p.host.stop()
		p.host = nil
	}
	h, err := startHost(ctx, p.project, p.options, engine, p.output.Line)
	if err != nil {
		return nil, err
	}
	p.host = h
	return h, nil
}

// failed explains the failure of a call. It reports the death of a plugin once, with the last output. A plugin that died, or whose call was
// abandoned, is not used again: the next call starts another one.
func (p *Program) failed(ctx context.Context, h *host, what string, err error) error {
	cause := context.Cause(ctx)
	if cause == nil && status.Code(err) != codes.Unavailable {
		err := h.fault(what+" "+p.project.Program(), err)
		if what == running {
			return err // later output of the plugin is shown
		}
		return fmt.Errorf("%w%s", err, h.lastOutput())
	}
	p.mu.Lock()
	if p.host == h {
		p.host = nil
	}
	p.mu.Unlock()
	defer h.stop()
	if cause != nil {
		return cause
	}
	if exit := h.ended(err); exit != nil {
		return exit
	}
	return fmt.Errorf("plugin %s went away: %s", h.title(), status.Convert(err).Message())
}

func (p *Program) info() (*pulumirpc.ProgramInfo, error) {
	options, err := structpb.NewStruct(p.project.Options)
	if err != nil {
		return nil, fmt.Errorf("the options of the runtime %s: %w", p.project.Runtime, err)
	}
	return &pulumirpc.ProgramInfo{
		RootDirectory:    p.project.Root,
		ProgramDirectory: p.project.Directory,
		EntryPoint:       p.project.Entry,
		Options:          options,
	}, nil
}

// arguments returns the arguments of the program for a run with the Engine service at an address.
func (p *Program) arguments(engine string) []string {
	if p.options.Inline {
		return append([]string{engine}, p.project.Args...)
	}
	return p.project.Args
}

func (p *Program) request(host source.Host, engine string) (*pulumirpc.RunRequest, error) {
	program, err := p.info()
	if err != nil {
		return nil, err
	}
	monitor, err := host.MonitorService.Address()
	if err != nil {
		return nil, fmt.Errorf("start the monitor for %s: %w", p.project.Program(), err)
	}
	schemas, err := source.AddressOf(p.options.Schemas)
	if err != nil {
		return nil, fmt.Errorf("offer schemas to %s: %w", p.project.Program(), err)
	}
	run := host.Monitor.Info()
	return &pulumirpc.RunRequest{
		Project: run.Project, Stack: run.Stack, Organization: run.Organization,
		//lint:ignore SA1019 older plugins read these instead of Info
		Pwd: p.project.Directory, Program: p.project.Entry,
		Args: p.arguments(engine), Config: run.Config, ConfigSecretKeys: run.ConfigSecretKeys,
		DryRun: run.DryRun, Parallel: int32(min(run.Parallel, math.MaxInt32)),
		MonitorAddress: monitor, LoaderTarget: schemas, MapperTarget: schemas, Info: program, AttachDebugger: p.project.Debug,
	}, nil
}
