package sluice

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/internal/operation"
	"github.com/sluice-iac/sluice/internal/text/frames"
	"github.com/sluice-iac/sluice/internal/tracing"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
)

// Engine is the standard pipeline with named places for stages of the caller's own. Make one with [Standard], put stages
// into its slots, and call one of its operations, any number of times.
//
//	register → lookup → (refresh) → import → check → analyze → diff → build → execute
//
// The refresh stage is there when an operation refreshes by running the program ([Options.RunProgram]).
//
// A stage in a slot gets each item that the standard stage before it has emitted. It may pass the item on, change it, or refuse it
// by returning an error such as that of [stages.Located.Refuse]. A refusal stops an operation with a diagnostic at the resource. A
// preview shows it, goes on to find further refusals, and fails at the end. [Slot.Insert] has the rules for stages.
type Engine struct {
	Registered Slot[stages.Registered] // after register: the goal is complete
	Located    Slot[stages.Located]    // after lookup: URN and recorded state are known
	Checked    Slot[stages.Checked]    // after check: the provider has accepted the inputs
	Analyzed   Slot[stages.Analyzed]   // after analyze
	Diffed     Slot[stages.Diffed]     // after diff: what would change is known
	Built      Slot[stages.Built]      // after build: the steps are decided, and none has begun
	Executed   Slot[stages.Executed]   // after execute: the steps are over and the program has its reply

	// Deleting gets the deletes that are decided, and Deleted those that are over. The deletes of a destroy, and those at the end
	// of an update, pass Deleting before the first of them begins. Those that a replacement needs first pass it before that
	// replacement begins. A stage of Deleting that has a Flush may keep them until Flush is called, which is after the last one.
	// Its changes to them have no effect. A preview has both slots.
	Deleting Slot[stages.Deleting]
	Deleted  Slot[stages.Deleted]

	// Replace has functions that make stages in the place of standard ones.
	Replace Replace

	submitted Slot[stages.Submitted] // before register; for traces
	watch     *tracing.Run           // nil without tracing
	session   *session               // of the interrupts, for one operation
	server    source.MonitorServer   // of one operation; nil if there is none

	options Options
}

// Standard returns the standard engine for a stack.
func Standard(o Options) *Engine { return &Engine{options: o.withDefaults()} }

// eachSlot calls visit for each slot, in the order in which items pass them.
func (e *Engine) eachSlot(visit func(name string, s anySlot)) {
	visit("submitted", &e.submitted)
	visit("Registered", &e.Registered)
	visit("Located", &e.Located)
	visit("Checked", &e.Checked)
	visit("Analyzed", &e.Analyzed)
	visit("Diffed", &e.Diffed)
	visit("Built", &e.Built)
	visit("Executed", &e.Executed)
	visit("Deleting", &e.Deleting)
	visit("Deleted", &e.Deleted)
}

// traced performs an operation and makes spans of it if the span of ctx is recorded.
func (e *Engine) traced(ctx context.Context, k kind) (*Result, error) {
	info := stages.RunInfo{Organization: e.options.Organization, Project: e.options.Project, Stack: e.options.Stack, DryRun: k.dryRun, Parallel: e.options.workers(k)}
	ctx, run := tracing.Begin(ctx, k.name, info)
	if run == nil {
		return e.perform(ctx, k)
	}
	own := *e // the slots of the caller stay as they are
	own.watch = run
	own.options.Providers = run.Host(e.options.Providers)
	own.options.Program = run.Program(e.options.Program)
	own.options.Observe = run.Observe(e.options.Observe)
	own.submitted = watched(e.submitted, "submitted", run.Submitted)
	own.Registered = watched(e.Registered, "registered", run.Registered)
	own.Located = watched(e.Located, "located", run.Located)
	own.Checked = watched(e.Checked, "checked", func(i stages.Checked) { run.Stage(i.URN, "analyze") })
	own.Analyzed = watched(e.Analyzed, "analyzed", func(i stages.Analyzed) { run.Stage(i.URN, "diff") })
	own.Diffed = watched(e.Diffed, "diffed", func(i stages.Diffed) { run.Stage(i.URN, "build") })
	own.Built = watched(e.Built, "built", func(i stages.Built) { run.Stage(i.URN, "execute") })
	own.Executed = watched(e.Executed, "executed", run.Executed)
	result, err := own.perform(ctx, k)
	run.End(err)
	return result, err
}

// watched returns a slot with one more stage, which looks at each item.
func watched[T any](s Slot[T], name string, look func(T)) Slot[T] {
	own := Slot[T]{makers: slices.Clone(s.makers)}
	own.Insert(func(stages.Operation) pipeline.Stage[T, T] {
		return pipeline.Stage[T, T]{Name: "trace " + name, Run: func(_ context.Context, item T, emit pipeline.Emit[T]) error {
			look(item)
			return emit(item)
		}}
	})
	return own
}

// Preview reports what Update would do. Nothing is changed and nothing recorded.
func (e *Engine) Preview(ctx context.Context) (*Result, error) {
	return e.operate(ctx, kind{name: "preview", dryRun: true})
}

// Update makes the stack what the program declares.
func (e *Engine) Update(ctx context.Context) (*Result, error) {
	return e.operate(ctx, kind{name: "update"})
}

// Destroy deletes every resource of the stack. It runs the program only with [Options.RunProgram].
func (e *Engine) Destroy(ctx context.Context) (*Result, error) {
	return e.operate(ctx, kind{name: "destroy", mode: stages.ModeDestroy})
}

// PreviewDestroy reports what Destroy would do.
func (e *Engine) PreviewDestroy(ctx context.Context) (*Result, error) {
	return e.operate(ctx, kind{name: "preview", dryRun: true, mode: stages.ModeDestroy})
}

// Refresh records how the stack's resources are now. It runs the program only with [Options.RunProgram], and changes no
// resource.
func (e *Engine) Refresh(ctx context.Context) (*Result, error) {
	return e.operate(ctx, kind{name: "refresh", mode: stages.ModeRefresh})
}

// PreviewRefresh reports what Refresh would find, and records nothing.
func (e *Engine) PreviewRefresh(ctx context.Context) (*Result, error) {
	return e.operate(ctx, kind{name: "preview", dryRun: true, mode: stages.ModeRefresh})
}

// Import takes existing objects under management ([steps.md 4.4]): each is read from its provider and recorded. No object is changed,
// and the program does not run; only the versions of its packages are taken from Options.Program, which may be nil. Invalid
// requests are refused before anything is done. If a request fails later, only its resource and what belongs to that are not
// imported, and the error is a [*FailedError]. It is no error if there are no requests.
//
// [steps.md 4.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#44-the-import-command
func (e *Engine) Import(ctx context.Context, requests ...stages.ImportRequest) (*Result, error) {
	return e.imports(ctx, kind{name: "import", imports: requests})
}

// PreviewImport reports what Import would do, and records nothing. It reads the objects.
func (e *Engine) PreviewImport(ctx context.Context, requests ...stages.ImportRequest) (*Result, error) {
	return e.imports(ctx, kind{name: "preview", dryRun: true, imports: requests})
}

func (e *Engine) imports(ctx context.Context, k kind) (*Result, error) {
	if k.imports == nil {
		k.imports = []stages.ImportRequest{}
	}
	return e.operate(ctx, k)
}

// Recover resolves the pending operations of earlier runs, which were interrupted or lost a plugin ([state.md 9.4], [state.md 9.6]). Nothing
// else is touched, no object is changed, and the program does not run.
//
//   - Interrupted reads and imports are dropped: they change nothing.
//   - Updates and deletes are resolved by reading the object.
//   - Creates are resolved by [Options.ResolveCreate], which may be nil. If it gives no answer, or assumes that a create made
//     nothing, Recover first reads an object by the name that was generated for it, and records the object if it exists.
//     For that, the provider must be able to read an object by its name.
//
// Other operations stay pending in the state. Journals were recovered before, when the stack was opened.
//
// [state.md 9.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#94-promises
// [state.md 9.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#96-recovery
func (e *Engine) Recover(ctx context.Context) (*Result, error) {
	return e.operate(ctx, kind{name: "recover", mode: stages.ModeRefresh, recovers: true})
}

// operate runs one operation from loading the state to the last event, and writes it into the history of a locked stack.
func (e *Engine) operate(ctx context.Context, k kind) (*Result, error) {
	if err := e.options.validate(k); err != nil {
		return nil, err
	}
	began := time.Now()
	own := *e
	own.server = e.options.monitorServer()
	own.session = e.options.Interrupts.begin()
	defer own.session.end()
	result, err := own.traced(ctx, k)
	if s, ok := e.options.State.(Historian); ok && result != nil && !k.dryRun {
		s.Ended(ctx, Ended{Kind: k.name, Began: began, Config: e.options.Config, Changes: result.Changes, Err: err})
	}
	return result, err
}

// perform performs an operation. e is a copy of the engine for that operation.
func (e *Engine) perform(ctx context.Context, k kind) (*Result, error) {
	s, err := e.options.settings(k)
	if err != nil {
		return nil, err
	}
	s.MonitorServer = e.server
	s.OnInterrupt, s.Stopped = e.session.watch, e.session.isStopped
	a, err := newAssembly(e, k.name, s.Stages)
	if err != nil {
		return nil, err
	}
	s.Assemble = a.join
	if e.watch != nil {
		s.Stages.Watch = stages.Watch{Queued: e.watch.Queued, Phase: e.watch.Phase}
		s.Calls.DuringWait = e.watch.Waits
	}
	out, err := operation.Perform(ctx, s)
	if err != nil {
		if !s.Stages.ShowSecrets {
			err = s.Secrets.Error(err)
		}
		return nil, operation.WithCause(ctx, err)
	}
	result := &Result{
		Changes: out.Results.Changes, Outputs: out.Results.Outputs, Plan: out.Plan, Resolved: out.Results.Resolved, Kept: out.Results.Kept,
		about: out.About, steps: sync.OnceValue(out.Results.Steps), decided: sync.OnceValue(out.Results.Decided), failures: out.Results.Failures, files: frames.Open(e.options.Root), isSensitive: e.options.Config.isSensitive(),
	}
	if p, ok := e.options.Program.(source.Locator); ok {
		result.locate = p.Locate
	}
	if out.Ended == stages.Succeeded {
		return result, nil
	}
	return result, &FailedError{Operation: k.name, Canceled: out.Ended == stages.Canceled, Cause: cmp.Or(out.Interrupt, e.session.cause()), Err: out.Err}
}

// Preview reports what Update would do. Nothing is changed and nothing recorded. If there is an error, the result describes
// the part of the plan that was made. The error of a failed operation is a [*FailedError].
func Preview(ctx context.Context, o Options) (*Result, error) { return Standard(o).Preview(ctx) }

// Update makes the stack what the program declares. Its steps are recorded, also if a later one fails. The error of a failed
// operation is a [*FailedError].
func Update(ctx context.Context, o Options) (*Result, error) { return Standard(o).Update(ctx) }

// Refresh records how the stack's resources are now.
func Refresh(ctx context.Context, o Options) (*Result, error) { return Standard(o).Refresh(ctx) }

// PreviewRefresh reports what Refresh would find.
func PreviewRefresh(ctx context.Context, o Options) (*Result, error) {
	return Standard(o).PreviewRefresh(ctx)
}

// Destroy deletes every resource of the stack.
func Destroy(ctx context.Context, o Options) (*Result, error) { return Standard(o).Destroy(ctx) }

// PreviewDestroy reports what Destroy would do.
func PreviewDestroy(ctx context.Context, o Options) (*Result, error) {
	return Standard(o).PreviewDestroy(ctx)
}

// Import takes existing objects under management; see [Engine.Import].
func Import(ctx context.Context, o Options, requests ...stages.ImportRequest) (*Result, error) {
	return Standard(o).Import(ctx, requests...)
}

// PreviewImport reports what Import would do, and records nothing.
func PreviewImport(ctx context.Context, o Options, requests ...stages.ImportRequest) (*Result, error) {
	return Standard(o).PreviewImport(ctx, requests...)
}

// Recover resolves the pending operations of earlier runs; see [Engine.Recover].
func Recover(ctx context.Context, o Options) (*Result, error) { return Standard(o).Recover(ctx) }
