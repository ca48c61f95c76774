package operation

import (
	"context"
	"log/slog"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
)

// Settings are the settings of an operation. All functions may be called from many goroutines.
type Settings struct {
	Name string // for messages: "update failed"
	// Stages are the settings of the stages. The operation adds the base, the record, the providers, the packages of the program, the policy packs
	// (to the analyzers), and the address of its monitor.
	Stages stages.Settings
	// Assemble joins the stages of the run.
	Assemble func(*standard.Run) (standard.Assembly, error)
	// Imports are the requests of an import without a program; nil for other operations.
	Imports []stages.ImportRequest
	// Recovers is true for an operation that only resolves pending operations of earlier runs.
	Recovers bool
	// Refresh makes the run read every resource before it decides about it. RunProgram makes refreshes and destroys run the program.
	Refresh, RunProgram bool

	// Program may be nil if the operation does not run it.
	Program source.Program
	// Root is the directory of the project file, "" for none.
	Root      string
	Providers providers.Host
	// Calls are the options of provider calls. The operation adds the functions.
	Calls       providers.RegistryOptions
	PolicyPacks []source.PolicyPack
	State       state.Store
	Version     string // the writer named in plans
	// StackOutputs returns the outputs of another stack, StackResources its live resources. If they are nil, such requests of programs fail.
	StackOutputs   func(ctx context.Context, name string) (property.Map, error)
	StackResources func(ctx context.Context, name string) ([]*state.Resource, error)
	// ResolveCreate is called for each interrupted create; nil leaves them all pending.
	ResolveCreate func(state.Pending) stages.CreateResolution
	// MonitorServer serves the monitor to other processes, nil if they cannot call it. NoResourceReferences and NoOutputValues disable features.
	MonitorServer                        source.MonitorServer
	NoResourceReferences, NoOutputValues bool
	// Engine is the Engine service, nil if there is none. Messages sets the receiver of its messages; nil drops them.
	Engine   source.Service
	Messages func(sink func(stages.LogMessage))

	// Ephemeral are the properties that are not recorded; nil for none.
	Ephemeral *Ephemeral
	// ShownConfig is the configuration without its secrets.
	ShownConfig map[string]string
	// Secrets are masked in texts, unless the stages show secrets. The operation adds those that it finds.
	Secrets *redact.Set
	// OnInterrupt registers functions: stop is called when the operation is to stop, and cancel when the providers are to abort and the program is
	// to end. It calls them at once if that has happened already. Stopped reports whether the operation is to stop.
	OnInterrupt func(stop, cancel func())
	Stopped     func() bool
	Log         *slog.Logger
}

// isImport reports whether the operation is an import without a program.
func (s *Settings) isImport() bool { return s.Imports != nil }

// RunsProgram reports whether the operation runs the program.
func (s *Settings) RunsProgram() bool {
	return !s.isImport() && (s.Stages.Mode == stages.ModeUpdate || s.RunProgram)
}

// refreshesEach reports whether resources are read when the program registers them, instead of before it starts.
func (s *Settings) refreshesEach() bool {
	mode := s.Stages.Mode
	return s.RunProgram && (mode == stages.ModeRefresh || mode == stages.ModeUpdate && s.Refresh)
}

// reads returns the reads before the program starts (steps.md 7.1, 7.2).
func (s *Settings) reads() standard.Reads {
	switch {
	case s.isImport(), s.refreshesEach():
		return standard.ReadNothing
	case s.Recovers:
		return standard.ReadInterrupted
	case s.Stages.Mode == stages.ModeRefresh, s.Refresh:
		return standard.ReadAll
	}
	return standard.ReadMarked
}

// serve returns the server of the run's monitor.
func (s *Settings) serve(ctx context.Context, m source.ServedMonitor) source.RunningService {
	if s.MonitorServer == nil {
		return unserved{}
	}
	return s.MonitorServer.ServeMonitor(ctx, m)
}

// enter begins a phase, which ends when over is called.
func (s Settings) enter(phase string) (over func()) {
	if s.Stages.Watch.Phase == nil {
		return func() {}
	}
	return s.Stages.Watch.Phase(phase)
}
