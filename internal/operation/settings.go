package operation

import (
	"context"
	"log/slog"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/standard"
	"github.com/sluice-iac/sluice/state"
)

// Settings say what an operation does and what it works with. All functions may be called from many goroutines.
type Settings struct {
	Name string // for messages: "update failed"
	// Stages are the settings of the stages. The operation adds what it opens: the base, the record, the providers, the packages
	// of the program, the policy packs to the analyzers, and the address of its monitor.
	Stages stages.Settings
	// Assemble joins the stages of the run.
	Assemble func(*standard.Run) pipeline.Flow[stages.Executed]
	// Imports are all that the operation does, if there are any.
	Imports []stages.ImportRequest
	// Recovers is true for an operation that only resolves what earlier ones began and did not end.
	Recovers bool
	// Refresh has every resource read before anything is decided about it. RunProgram has refreshes and destroys run the program.
	Refresh, RunProgram bool

	// Program may be nil where the operation does not run it.
	Program source.Program
	// Root is the directory of the project file, "" for none.
	Root      string
	Providers providers.Host
	// EchoInputs lets providers whose configuration is not known answer previews with their inputs.
	EchoInputs  bool
	PolicyPacks []*policy.Pack
	State       Store
	Version     string // what plans name as their writer
	// StackOutputs returns the outputs of another stack, StackResources its live resources; nil makes programs that ask fail.
	StackOutputs   func(ctx context.Context, name string) (property.Map, error)
	StackResources func(ctx context.Context, name string) ([]*state.Resource, error)
	// ResolveCreate is asked about each create whose end nobody knows; nil leaves them all.
	ResolveCreate func(state.Pending) stages.CreateResolution
	// WithoutFeatures are the features of the monitor that are switched off.
	WithoutFeatures []monitor.Feature
	// EngineAddress is that of the Engine service, "" when there is none. Messages is told who takes its messages in from now on;
	// nil drops them.
	EngineAddress string
	Messages      func(sink func(stages.LogMessage))

	// ShownConfig is the configuration without its secrets.
	ShownConfig map[string]string
	// OnInterrupt has stop called when somebody stops the operation, and cancel when the providers shall abort what they do;
	// at once if it has happened already. Stopped reports whether somebody has.
	OnInterrupt func(stop, cancel func())
	Stopped     func() bool
	Log         *slog.Logger
}

// Store keeps the state of one stack.
type Store interface {
	// Load returns the recorded state, nil for a stack that has none.
	Load(ctx context.Context) (*state.Snapshot, error)
	// Record begins recording a run on top of base, which Load has returned.
	Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error)
}

// isImport reports whether the operation is an import without a program.
func (s *Settings) isImport() bool { return len(s.Imports) > 0 }

// RunsProgram reports whether the operation runs the program.
func (s *Settings) RunsProgram() bool {
	return !s.isImport() && (s.Stages.Mode == stages.ModeUpdate || s.RunProgram)
}

// refreshesEach reports whether resources are read when the program registers them, and not before it starts.
func (s *Settings) refreshesEach() bool {
	mode := s.Stages.Mode
	return s.RunProgram && (mode == stages.ModeRefresh || mode == stages.ModeUpdate && s.Refresh)
}

// reads says what is read before the program starts (steps.md 7.1, 7.2).
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
