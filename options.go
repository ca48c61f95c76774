package sluice

import (
	"context"
	"log/slog"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/monitor"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Options describe one operation on one stack. Wrong options are reported all at once, by the error of the operation, before
// anything is done.
type Options struct {
	Stack        string // required, as Project is
	Project      string
	Organization string // "organization" when empty
	// Root is the absolute directory of the project file. Source positions in states are relative to it. "" records none.
	Root string
	// Directory is the program's directory: relative paths of assets are resolved against it. "" is the working
	// directory of the process.
	Directory string
	// Config is the stack's configuration, decrypted. A key is "namespace:name".
	Config Config
	// Program declares the resources. Refresh and Destroy run it only with RunProgram. Otherwise they use only the versions of its
	// packages, to warn about older ones, and it may be nil.
	Program source.Program
	// Providers starts providers.
	Providers providers.Host
	// State is the store of the stack's state: a stack of a backend within host.Locked, or a [MemoryState]. One operation at a time
	// can record it. nil is a MemoryState that is lost at the end, and with it the record of all objects that the operation has
	// made.
	State state.Store
	// StackOutputs returns the outputs of another stack for stack references, StackResources its live resources. If nil, programs
	// that use them fail.
	StackOutputs   func(ctx context.Context, name string) (property.Map, error)
	StackResources func(ctx context.Context, name string) ([]*state.Resource, error)
	// Service receives the log messages of programs and plugins; nil when there is none.
	Service Service

	Parallel int // how many changing operations run at once; 0 means 4 for each processor, 1 one at a time
	// ReadLimit bounds the concurrent calls of Check, Diff and Read of resources, of all packages together; 0 is the value of
	// [ReadLimitKey] in Config. Without either, each part of the operation (such as the checks, the diffs, the reads of a refresh)
	// makes up to 512 calls at once. Limits bound calls of providers in addition to the rules of [LimitsKey] in Config; nil bounds
	// nothing. Operations with the same Limits share the budgets.
	ReadLimit       int
	Limits          *providers.Limits
	ContinueOnError bool
	Targeting       stages.Targeting // which resources to touch; the zero value is all
	Refresh         bool             // read every resource before deciding
	// RunProgram makes Refresh and Destroy run the program, so that they use the configuration that it gives its providers, and
	// so that delete hooks run (steps.md 7.4, 7.5). An Update or Preview with Refresh then reads each resource when the
	// program registers it.
	RunProgram bool
	// ResolveCreate is called for each interrupted create before the program starts; nil leaves them all pending. Imports do
	// not call it. A resource whose create stays pending is not created again: that is an [*stages.InterruptedCreateError],
	// in previews too, and whatever depends on it fails or is skipped (state.md 9.4 R-6).
	// Importing the resource resolves it as well.
	ResolveCreate func(state.Pending) stages.CreateResolution
	IgnoreProtect bool
	// Secrets are texts that are masked in every message, error and log of the operation. The operation adds the secrets of the
	// configuration, the state, the program and the providers. nil is an empty set. ShowSecrets leaves all secrets in messages and
	// errors.
	Secrets     *redact.Set
	ShowSecrets bool
	Legacy      Legacy
	// Analyzers judge what the program declares, before the PolicyPacks do. Operations that do not run the program call neither.
	// AnalyzeLimit is how many of them run at once; 0 is all.
	Analyzers    []stages.Analyzer
	PolicyPacks  []source.PolicyPack
	AnalyzeLimit int
	// Plan restricts Preview and Update: a change that it does not allow stops them before it is made, with a
	// [*stages.PlanViolation]. nil allows everything. With MakePlan they return a plan (see [Result.Plan]). Other operations refuse
	// a Plan and make none.
	Plan      *state.Plan
	MakePlan  bool
	Autonamer stages.Autonamer // nil: providers choose the names

	// Observe is called with each event, one at a time. It must not block for long.
	Observe func(stages.Event)
	// Interrupts pauses and stops the operation in an orderly way; nil if it cannot be interrupted. Operations may share one.
	Interrupts *Interrupts
	// Log gets the log of the engine: provider calls at [slog.LevelDebug], and the values that they send at [LevelValues]. nil
	// discards.
	Log *slog.Logger
	// Now is the clock for the times in states; nil is the real one.
	Now func() time.Time
	// Entropy is the source of random seeds and of the IDs of providers; nil takes 32 random bytes. The same entropy gives the same
	// values. Each operation needs its own, because otherwise a replaced provider would keep its ID.
	Entropy []byte
}

// Service is the engine's service for programs and plugins, which send their log messages to it. Package host has one.
type Service interface {
	source.Service
	// Attach sets the receiver of the messages from now on; nil drops them. It may be called from any goroutine.
	Attach(sink func(stages.LogMessage))
}

// Historian is a [state.Store] with a history of operations, such as a stack within host.Locked.
type Historian interface {
	// Ended writes an operation into the history when it has ended. Previews are not written.
	Ended(ctx context.Context, e Ended)
}

// Ended describes an operation that has ended.
type Ended struct {
	Kind    string // "update", "refresh", "destroy", "import" or "recover"
	Began   time.Time
	Config  Config
	Changes map[stages.Op]int
	Err     error // nil after success
}

// Legacy brings back behaviour that newer engines have changed, for stacks that rely on it. The zero value is the present
// behaviour.
type Legacy struct {
	// Diff treats a resource whose checked inputs have not changed as unchanged, without calling its provider (steps.md 3.8).
	Diff bool
	// RefreshDiff decides by its outputs alone whether a refreshed resource has changed, without calling
	// its provider (steps.md 7.6).
	RefreshDiff bool
	// ProviderPreview lets a provider whose configuration is unknown in a preview return the given inputs as outputs
	// (protocol.md 3.2).
	ProviderPreview bool
	// NoResourceReferences reports to SDKs that references to resources are not supported. A resource within a value is then its
	// ID, or the URN of a component (protocol.md 4.2).
	NoResourceReferences bool
	// NoOutputValues reports to SDKs that outputs within values are not supported. Dependencies are then known for whole properties
	// only (protocol.md 4.2).
	NoOutputValues bool
}

// withoutFeatures returns the features of the monitor that are switched off.
func (l Legacy) withoutFeatures() []monitor.Feature {
	var off []monitor.Feature
	if l.NoResourceReferences {
		off = append(off, monitor.ResourceReferences)
	}
	if l.NoOutputValues {
		off = append(off, monitor.OutputValues)
	}
	return off
}
