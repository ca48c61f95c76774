package source

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Program is something that declares resources. Its Run may be called several times, one after the other, because an update previews first.
// Calls of Run never overlap.
type Program interface {
	// Packages lists the packages that the program needs: the table from which default providers take their versions (protocol.md 4.5). It
	// may be slow the first time, when a language plugin is started.
	Packages(ctx context.Context) ([]stages.Package, error)
	// Run runs the program to its end. It returns nil if the program succeeded, and an error that wraps [ErrReported] if the program failed
	// and has logged the reason through Monitor.Log. Any other error has not been reported yet. Cancelling ctx ends the program.
	Run(ctx context.Context, host Host) error
	// Close ends the processes that the program keeps between calls, for example a language plugin.
	Close() error
}

// Preparer is a [Program] that may need a preparation before its other methods are called, such as a virtual environment.
type Preparer interface {
	// Prepare makes what is missing, and logs what it does. It is called before Packages if the program is about to run. A program that has to be
	// compiled is compiled by Prepare, and each Run until the next Prepare runs that: the update runs what its preview has run.
	Prepare(ctx context.Context, log func(stages.LogMessage)) error
}

// Locator is a [Program] that can locate in its files the values that it declared in its last run.
type Locator interface {
	// Locate is a [stages.Locate]. It may be called once the program has ended, also by several goroutines.
	Locate(u urn.URN, path property.Path) (stages.Place, bool)
}

// Host is the environment of a running program.
type Host struct {
	Monitor stages.Monitor
	// MonitorService offers Monitor to other processes.
	MonitorService Service
	// Engine is the Engine service, for log messages; nil when there is none.
	Engine Service
	// Over ends when the run is over and Monitor answers nothing any more, whatever the program does. A program in this process then stops
	// waiting for anything else. Other processes end by themselves, or are ended after a while. Nil never ends.
	Over context.Context
}

// Wanted returns a context for the work before a program starts, such as its compilation. It ends with ctx, and with the run. The caller
// calls the returned function when it is done.
func (h Host) Wanted(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	if h.Over == nil {
		return ctx, func() { end(nil) }
	}
	release := context.AfterFunc(h.Over, func() { end(stages.ErrShutDown) })
	return ctx, func() { release(); end(nil) }
}

// Service is a gRPC service that the engine offers to other processes. It listens only once its address has been requested.
type Service interface {
	// Address returns "127.0.0.1:<port>".
	Address() (string, error)
	// SocketAddress returns the address for clients that can dial Unix sockets: "unix://<path>" of a socket that only the user of this
	// process can open, or Address where there can be none.
	SocketAddress() (string, error)
}

// MonitorServer is what serves the monitor of a run to other processes: the service of a host, or a [providers.Host] that starts plugins. The engine
// itself serves nothing.
type MonitorServer interface {
	// ServeMonitor returns a server for one run. The end of ctx stops it like Close, which must be called in any case.
	ServeMonitor(ctx context.Context, m ServedMonitor) RunningService
}

// ServedMonitor is the monitor of a run, as other processes get it.
type ServedMonitor struct {
	Monitor stages.Monitor
	// Views receives the views that providers publish (protocol.md 5.4); nil accepts none.
	Views stages.Views
	// Root is the directory of the project file. Source positions are recorded relative to it; "" drops them (protocol.md 4.13).
	Root string
	// NoResourceReferences and NoOutputValues report to SDKs that these features are not supported, so that they use an older form of the protocol
	// (protocol.md 4.2).
	NoResourceReferences, NoOutputValues bool
}

// RunningService is a service whose owner closes it.
type RunningService interface {
	Service
	// Close refuses new requests, and returns when none is being answered any more. It may be called more than once.
	Close() error
}

// AddressOf returns the address of a service, "" for nil.
func AddressOf(s Service) (string, error) {
	if s == nil {
		return "", nil
	}
	return s.Address()
}

// ErrReported is wrapped by the error of a program that has already reported the reason to the user.
var ErrReported = errors.New("the program failed and has said why")

// Func is a program that is a Go function. Its context ends when the run is over. It waits for all its calls of the monitor before it returns: what
// has not been registered by then counts as no longer declared, and later calls return [stages.ErrShutDown].
type Func func(ctx context.Context, m stages.Monitor) error

// Packages returns nothing: the registrations of a function contain the versions.
func (f Func) Packages(context.Context) ([]stages.Package, error) { return nil, nil }

// Run calls the function.
func (f Func) Run(ctx context.Context, host Host) error {
	ctx, done := host.Wanted(ctx)
	defer done()
	return f(ctx, host.Monitor)
}

// Close does nothing.
func (f Func) Close() error { return nil }

// ComponentServer is a [providers.Host] that can evaluate components of plugins itself, such as those in YAML.
type ComponentServer interface {
	// ServeComponents returns a host that serves the plugins for which next returns a *[plugin.LanguageHostedError], and starts all others
	// through next. Files in components are relative to the directory of p. Components register their resources with the monitor.
	ServeComponents(next providers.Host, p Project, monitor func() stages.Monitor) providers.Host
}

// PolicyPack is a pack of policies that operations must comply with. Package policy has those that run as processes.
type PolicyPack interface {
	// Load starts the pack for one run and describes the run to it (protocol.md 7.3). The output of the pack goes to log, which may be
	// called from many goroutines until the pack is closed. The end of ctx may end the pack. If the configuration is invalid, the error is
	// a [PolicyConfigError]. Otherwise the caller must Close the analyzer.
	Load(ctx context.Context, run stages.RunInfo, log func(stages.LogMessage)) (PolicyAnalyzer, error)
}

// PolicyAnalyzer is a running policy pack.
type PolicyAnalyzer interface {
	stages.Analyzer
	// Close ends the pack.
	Close() error
}

// PolicyConfigError is the error of a policy pack with an invalid configuration.
type PolicyConfigError interface {
	error
	// Messages returns the problems, one message each.
	Messages() []string
}
