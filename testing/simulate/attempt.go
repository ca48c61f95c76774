package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-multierror"
	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc"
)

// attempt is one operation under one timing.
type attempt struct {
	op      Operation
	preview bool
	held    *state.Plan        // the plan that the operation is held to
	answers *providers.Answers // of the preview and its update; nil if each asks
	number  int                // of the operation in the history
	before  *world             // the world before the attempt
	after   *world             // the world after the attempt; the attempt works on its cloud
	cloud   *providertest.Cloud
	program *program // nil if the operation runs none
	// guard is called before a step begins, and can refuse it; nil allows everything.
	guard func(context.Context) error
	// read returns the outputs of the other stack, for a reader.
	read    func(context.Context, string) (property.Map, error)
	judges  *judges // nil without policies
	slots   *slots  // nil without stages
	workers int

	mu      sync.Mutex // guards the rest, and the journal
	journal *journal
	clock   int
	calls   []*call
	reads   []readCall
	events  []stages.Event
	faults  []string
	cut     []effect // of the calls that were cut off
	// failedLate is true after a failure while other steps were running: one after the end of the program.
	failedLate bool

	result *sluice.Result
	err    error
	took   time.Duration
	// secrets are all that the run has come to know.
	secrets redact.Set
	text    string // the text of the state after the attempt
}

// label names the attempt.
func (a *attempt) label(s Schedule) string {
	kind := ""
	if a.preview {
		kind = " previewed"
	}
	return fmt.Sprintf("%s with seed %d and %d workers", kind, s.Seed, s.Workers)
}

// written returns the written form of the state.
func (a *attempt) written() string { return a.text }

// fault records a broken promise. The mutex is held.
func (a *attempt) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

// tick counts events. The mutex is held.
func (a *attempt) tick() int { a.clock++; return a.clock }

// now returns the next time of the clock, as for an event.
func (a *attempt) now() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tick()
}

// mustBeOver reports a fault if an operation is recorded as ended while it runs. Of two copies with one object, one may be
// forgotten while the other is deleted. The mutex is held.
func (a *attempt) mustBeOver(op state.Pending) {
	if a.journal.isOpen(op.Resource.URN, op.Resource.ID, op.Type) {
		return // the call may belong to the other operation
	}
	for _, c := range a.calls {
		if c.end == 0 && c.urn == op.Resource.URN && (c.id == op.Resource.ID || op.Type != state.Deleting) && string(c.method) == methodOf(op.Type) {
			a.fault("the end of %s %s is recorded while it runs", op.Type, c.urn)
		}
	}
}

func methodOf(t state.PendingType) string {
	switch t {
	case state.Creating:
		return "create"
	case state.Updating:
		return "update"
	case state.Deleting:
		return "delete"
	}
	return ""
}

// answered reports a fault if a reply comes before the record.
func (a *attempt) answered(r *stages.RegisterReply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.preview && r.Result == stages.Success && a.journal.isBusy(r.URN) {
		a.fault("the program is answered about %s before that is recorded", r.URN)
	}
}

// try runs an operation in a world, which it does not change. held is a plan that restricts the operation, or nil.
func try(ctx context.Context, w *world, op Operation, s Schedule, number int, preview bool, held *state.Plan, answers *providers.Answers) *attempt {
	a := prepare(w, op, s, number, preview, held)
	a.answers = answers
	a.run(ctx, s)
	return a
}

// prepare returns an attempt that has not begun.
func prepare(w *world, op Operation, s Schedule, number int, preview bool, held *state.Plan) *attempt {
	a := &attempt{op: op, preview: preview, held: held, number: number, before: w, after: w.clone()}
	cloud := cloudOptions(a.after.cloud, op, s)
	cloud.Cut = a.cutOff
	a.cloud = providertest.NewCloud(cloud)
	a.journal = newJournal(a, w.snapshot, op.Crash)
	return a
}

// run runs the operation.
func (a *attempt) run(ctx context.Context, s Schedule) {
	a.workers = s.Workers
	a.journal.keep(ctx, s)
	var others conc.WaitGroup
	o := a.options(s, &others)
	a.readers(ctx, &others)
	began := time.Now()
	a.result, a.err = a.operate(ctx, a.engine(o, s))
	a.took = time.Since(began)
	if a.after.answers = o.Recorded.Encode(); a.op.Crash > 0 {
		a.after.answers = nil
	}
	others.Wait()
	a.after.snapshot = a.journal.last
	if a.journal.depot != nil {
		a.after.snapshot = a.observe(ctx, "after the end")
	}
	a.after.late = append(slices.Clone(a.after.late), a.cut...)
}

// pauses returns a function that waits at most as long as a short call may take.
func (a *attempt) pauses(s Schedule) func() {
	return pauses(s.Seed, time.Duration(s.Milliseconds)*time.Millisecond/10)
}

// isLate reports whether the program, if there is one, has ended.
func (a *attempt) isLate() bool { return a.program == nil || a.program.ended.Load() }

// operate runs the operation with the caller's stages in the engine.
func (a *attempt) operate(ctx context.Context, e *sluice.Engine) (*sluice.Result, error) {
	switch {
	case a.op.Do == Update && a.preview:
		return e.Preview(ctx)
	case a.op.Do == Update:
		return e.Update(ctx)
	case a.op.Do == Refresh && a.preview:
		return e.PreviewRefresh(ctx)
	case a.op.Do == Refresh:
		return e.Refresh(ctx)
	case a.op.Do == Destroy && a.preview:
		return e.PreviewDestroy(ctx)
	case a.op.Do == Destroy:
		return e.Destroy(ctx)
	case a.op.Do == Import && a.preview:
		return e.PreviewImport(ctx, a.imports()...)
	case a.op.Do == Import:
		return e.Import(ctx, a.imports()...)
	case a.op.Do == Recover:
		return e.Recover(ctx)
	}
	return nil, fmt.Errorf("there is no operation %q", a.op.Do)
}

// imports returns the requests of an import. Resources that they refer to are recorded or imported before.
func (a *attempt) imports() []stages.ImportRequest {
	known := map[string]urn.URN{}
	for _, r := range a.before.resources() {
		if !r.Delete {
			known[r.URN.Name()] = r.URN
		}
	}
	var out []stages.ImportRequest
	for _, d := range a.op.Program {
		q := stages.ImportRequest{Type: typeOf(d), Name: d.Name, ID: d.ID, Parent: known[d.Parent], Protect: d.Protect, Component: d.Kind == Component}
		if p := known[d.Provider]; p.Type().IsProvider() && !q.Component {
			q.Provider = p
		}
		q.Package.Version = a.op.Version
		known[d.Name] = urn.Subject{Stack: "dev", Project: "p", Type: q.Type, Name: q.Name, Parent: q.Parent}.URN()
		out = append(out, q)
	}
	return out
}

// narrow returns limits for which most calls have to wait.
func narrow() *providers.Limits {
	l, err := providers.NewLimits(
		providers.Rule{Methods: []providers.Method{providers.MethodChanges}, Type: "test:index:*", Parallel: 1, Adaptive: true},
		providers.Rule{Provider: "*", Rate: 20, Burst: 2},
		providers.Rule{Parallel: 3},
	)
	if err != nil {
		panic(err)
	}
	return l
}

func (a *attempt) options(s Schedule, wg *conc.WaitGroup) sluice.Options {
	op := a.op
	o := sluice.Options{
		Stack: "dev", Project: "p", Providers: a.host(), State: a.journal, Parallel: s.Workers, Now: now, Entropy: []byte{byte(a.number)},
		Secrets: &a.secrets, ContinueOnError: op.ContinueOnError, IgnoreProtect: op.IgnoreProtect, Refresh: op.Refresh, RunProgram: op.RunProgram,
		Targeting: stages.Targeting{
			Targets: a.patterns(op.Targets), Excludes: a.patterns(op.Excludes), Replace: a.patterns(op.Replace),
			TargetDependents: op.Dependents, ExcludeDependents: op.Dependents,
		},
		Interrupts: &sluice.Interrupts{},
	}
	if op.RefreshOnly != nil {
		o.RefreshOnly = map[urn.URN]bool{}
		for _, r := range a.before.resources() {
			o.RefreshOnly[r.URN] = slices.Contains(op.RefreshOnly, r.URN.Name())
		}
	}
	if op.DependsOn {
		o.Config = sluice.Config{sluice.DependsOnKey: {Text: "replace"}}
	}
	if op.Pending != "" {
		o.ResolveCreate = func(state.Pending) stages.CreateResolution {
			return stages.CreateResolution{Again: op.Pending == "create", Clear: op.Pending == "clear"}
		}
	}
	if len(op.Policies) > 0 {
		o.Analyzers, o.AnalyzeLimit = a.analyzers(s), op.AnalyzeLimit
	}
	o.StackOutputs = a.read
	if a.guard != nil {
		o.State = guardedStore{a.journal, a.guard}
	}
	if op.Do == Update {
		o.Plan, o.MakePlan = a.held, a.preview
	}
	if op.runsProgram() {
		a.program = newProgram(op, a.preview)
		a.program.answered = a.answered
		a.program.now = a.now
		o.Program = source.Func(a.program.run)
	}
	o.Answers, o.Recorded = a.answers, a.recorded(s)
	if s.Narrow {
		o.ReadLimit, o.Limits = 2, narrow()
	}
	o.Observe = func(e stages.Event) {
		if _, waits := e.(stages.LimitWait); waits {
			return // so that the moment of an interrupt does not depend on how long calls wait
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.events = append(a.events, e)
		if _, failed := e.(stages.StepFailed); failed && a.isLate() {
			a.failedLate = true
		}
		if len(a.events) == op.Interrupt {
			wg.Go(func() {
				o.Interrupts.Stop()
				if op.Cancel {
					o.Interrupts.Cancel()
				}
			})
		}
	}
	return o
}

// recorded returns the answers of the providers to earlier operations.
func (a *attempt) recorded(s Schedule) *providers.RecordedAnswers {
	o := providers.RecordedOptions{
		Key: []byte("key"), Now: now(), Applies: func(string, urn.Type) bool { return true },
		Identify: func(providers.Spec) (string, bool) { return "simulated", true },
	}
	if !s.Reuse {
		o.Sampled = func(urn.URN) bool { return true }
		o.Wrong = func(u urn.URN, _ string, m providers.Method) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.fault("%s of %s has another answer than before", m, u)
		}
	}
	r, err := providers.NewRecordedAnswers(o, a.before.answers)
	if err != nil {
		a.fault("the recorded answers cannot be read: %v", err)
	}
	return r
}

// patterns turns names into patterns that match them anywhere in the stack.
func (a *attempt) patterns(names []string) *urn.PatternSet {
	var out []string
	for _, n := range names {
		out = append(out, "**::"+n)
	}
	set, err := urn.CompileSet(out...)
	if err != nil {
		panic(err) // names of cases are plain words
	}
	return set
}

// plan returns the text of the steps.
func (a *attempt) plan() string {
	if a.result == nil {
		return ""
	}
	var b strings.Builder
	for _, s := range a.result.Steps() {
		fmt.Fprintf(&b, "%s %s keys=%v diffs=%v detailed=%v provider=%s %s %s\n", s.Op, s.URN, s.Keys, s.Diffs, s.DetailedDiff, s.Provider, s.Reason, s.Reason.Possibly())
	}
	if a.result.Plan != nil {
		text, err := sluice.EncodePlan(context.Background(), a.result.Plan, nil, true)
		fmt.Fprintf(&b, "%s %v\n", text, err)
	}
	return b.String()
}

// outline returns the part of the plan that a preview can predict, if it cannot predict the changes of some resources.
func (a *attempt) outline(late map[urn.URN]bool) string {
	var b strings.Builder
	for _, s := range a.result.Steps() {
		switch s.Op {
		case stages.OpSame, stages.OpUpdate, stages.OpReplace, stages.OpCreateReplacement, stages.OpDeleteReplaced:
			if late[s.URN] {
				continue // the comparison has decided that
			}
		}
		fmt.Fprintf(&b, "%s %s\n", s.Op, s.URN)
	}
	return b.String()
}

// errors returns the texts of the errors.
func (a *attempt) errors() []string {
	var failed *sluice.FailedError
	if !errors.As(a.err, &failed) {
		if a.err == nil {
			return nil
		}
		return []string{a.err.Error()}
	}
	var all *multierror.Error
	if !errors.As(failed.Err, &all) {
		return []string{failed.Error()}
	}
	var out []string
	for _, e := range all.Errors {
		out = append(out, e.Error())
	}
	return out
}

// diagnostics returns the messages. Messages about one resource keep their order. A text that the program calls a secret only after it was shown is
// masked here: whether the run masks it depends on timing.
func (a *attempt) diagnostics() string {
	var out []stages.Diagnostic
	for _, e := range a.events {
		switch e := e.(type) {
		case stages.Diagnostic:
			out = append(out, e)
		case stages.PolicyViolation:
			message := fmt.Sprintf("violates %s %s: %s", e.Level, e.Policy, e.Message)
			out = append(out, stages.Diagnostic{LogMessage: stages.LogMessage{URN: e.URN, Message: message}})
		}
	}
	for i := range out {
		out[i].Message = a.secrets.Mask(out[i].Message)
	}
	slices.SortStableFunc(out, func(x, y stages.Diagnostic) int {
		return cmp.Or(cmp.Compare(x.URN, y.URN), cmp.Compare(x.Message, y.Message))
	})
	var b strings.Builder
	for _, d := range out {
		fmt.Fprintf(&b, "%s %d %s %s\n", d.Severity, d.Code, d.URN, d.Message)
	}
	return b.String()
}

// waves returns the deletion waves of a preview. Those of a delete-before-replace are under the name of its root.
func (a *attempt) waves() string {
	var out []string
	for _, e := range a.events {
		if w, ok := e.(stages.DeletionWaves); ok {
			out = append(out, fmt.Sprintf("%s: %s", w.Root, w.Waves))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
