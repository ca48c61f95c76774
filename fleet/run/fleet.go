package run

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/spec"
)

// WorkflowQueue returns the queue of the workflows of a fleet, and ActivityQueue that of the operations on the stacks of one of its queues.
func WorkflowQueue(fleet string) string { return "sluice/" + fleet }

// ActivityQueue is described at [WorkflowQueue].
func ActivityQueue(fleet, queue string) string { return "sluice/" + fleet + "/" + queue }

// cycleType is the type of the error of a run whose stacks depend on each other. The error has the path.
const cycleType = "cycle"

// fleet is the state of one run.
type fleet struct {
	Request
	began     time.Time
	part      map[string]bool // the stacks of the run
	known     map[string]order.Known
	outputs   map[string]string // digests, by stack
	same      map[string]string // digests of what was read, by stack that has not changed otherwise
	order     *order.Order
	outcomes  map[string]Outcome // of stacks that have ended
	earlier   map[string]Outcome // of stacks that are repeated
	approvals approvals
	attempt   string // the first workflow of the run, as the server names it
	running   map[string]StackView
	used      map[string]int // by limit
	begun     int            // the number of stacks begun in this workflow
	done      workflow.Selector
	now       func() time.Time
}

// Fleet is the workflow of a run.
func Fleet(ctx workflow.Context, r Request) (View, error) {
	f := &fleet{Request: r, part: map[string]bool{}, running: map[string]StackView{}, used: map[string]int{}, done: workflow.NewSelector(ctx)}
	for _, s := range r.Stacks {
		f.part[s.Name] = true
	}
	f.now = func() time.Time { return workflow.Now(ctx) }
	f.attempt = firstOf(ctx)
	f.take(r.Carried)
	if err := workflow.SetQueryHandler(ctx, ViewQuery, func() (View, error) { return f.view(), nil }); err != nil {
		return View{}, err
	}
	if err := f.admit(ctx); err != nil {
		return f.view(), err
	}
	if r.Carried == nil {
		if err := f.survey(ctx, slices.Concat(r.Stacks, r.Others)); err != nil {
			return f.view(), err
		}
	}
	if err := f.arrange(); err != nil {
		return f.view(), err
	}
	// Children are waited for even if the run is cancelled.
	free, _ := workflow.NewDisconnectedContext(ctx)
	f.done.AddReceive(workflow.GetSignalChannel(ctx, ApproveSignal), func(c workflow.ReceiveChannel, _ bool) {
		var d Decision
		if c.ReceiveAsync(&d) { // otherwise it cannot be decoded
			f.decide(ctx, d)
		}
	})
	for {
		canceled := ctx.Err() != nil
		if canceled {
			f.cancelRest(ctx)
		} else {
			f.begin(ctx)
		}
		if len(f.running) == 0 && (len(f.approvals.asked) == 0 || f.isFull(ctx)) {
			break
		}
		err := workflow.Await(free, func() bool { return f.done.HasPending() || !canceled && ctx.Err() != nil })
		if err != nil {
			return f.view(), err
		}
		for f.done.HasPending() {
			f.done.Select(free)
		}
	}
	if len(f.outcomes) < len(f.Stacks) {
		return f.view(), f.goOn(ctx)
	}
	v := f.view()
	v.Ended = f.now()
	return v, nil
}

func (f *fleet) take(c *Carried) {
	f.began, f.known, f.outputs = f.now(), map[string]order.Known{}, map[string]string{}
	f.outcomes, f.same, f.earlier = map[string]Outcome{}, map[string]string{}, map[string]Outcome{}
	f.approvals = approvals{
		request: f.Request, earlier: f.earlier, asked: map[string]time.Time{}, granted: map[string]*Approval{}, shown: map[string]Shown{},
	}
	if c == nil {
		return
	}
	f.began, f.known, f.outputs, f.outcomes = c.Began, c.Known, c.Outputs, c.Outcomes
	maps.Copy(f.same, c.Same)
	maps.Copy(f.earlier, c.Earlier)
	maps.Copy(f.approvals.asked, c.Asked)
	maps.Copy(f.approvals.granted, c.Approved)
	maps.Copy(f.approvals.shown, c.Shown)
}

// firstOf returns the first workflow of a run, which may have continued as new ones, as the server names it.
func firstOf(ctx workflow.Context) string {
	info := workflow.GetInfo(ctx)
	if info.FirstRunID != "" {
		return info.FirstRunID
	}
	return info.WorkflowExecution.RunID
}

// admitted limits how long a run waits for its [Go].
const admitted = 10 * time.Minute

// admit waits for the confirmation of a key holder that this run begins. The sealed request of a run could be sent again by others, to a run with
// another ID.
func (f *fleet) admit(ctx workflow.Context) error {
	info := workflow.GetInfo(ctx)
	refused := temporal.NewNonRetryableApplicationError("no holder of the fleet's key has confirmed this run: its request was sealed for another one", "unbidden", nil)
	switch {
	case !f.Bound:
		return nil
	case f.Carried != nil && f.Carried.Attempt != f.attempt:
		return refused
	case f.Carried != nil:
		return nil
	case f.Schedule != "" && bySchedule.MatchString(info.WorkflowExecution.ID) && !f.Operation.Changes():
		return nil // each activity checks the schedule against fleet.yaml
	case f.Schedule != "":
		return refused
	}
	waiting, stop := workflow.WithCancel(ctx)
	defer stop()
	bidden, late := false, false
	s := workflow.NewSelector(ctx)
	s.AddReceive(workflow.GetSignalChannel(ctx, GoSignal), func(c workflow.ReceiveChannel, _ bool) {
		var g Go
		bidden = c.ReceiveAsync(&g) && g.Attempt == info.WorkflowExecution.RunID
	})
	s.AddFuture(workflow.NewTimer(waiting, admitted), func(workflow.Future) { late = true })
	s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
	for !bidden && !late && ctx.Err() == nil {
		s.Select(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !bidden {
		return refused
	}
	return nil
}

// bySchedule matches the IDs of workflows that a schedule has begun.
var bySchedule = regexp.MustCompile(`-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// goOn ends this workflow and continues the run in a new one, whose history is empty.
func (f *fleet) goOn(ctx workflow.Context) error {
	next := f.Request
	for name, o := range f.outcomes { // each is cut in the same way, so the order does not matter
		f.outcomes[name] = o.within(mostShown / max(len(f.outcomes), 1))
	}
	next.Carried = &Carried{
		Began: f.began, Known: f.known, Outputs: f.outputs, Outcomes: f.outcomes, Same: f.same, Earlier: f.earlier, Asked: f.approvals.asked, Approved: f.approvals.granted,
		Shown: f.approvals.shown, Attempt: f.attempt,
	}
	return workflow.NewContinueAsNewError(ctx, FleetWorkflow, next)
}

// surveyed is the number of stacks in one survey activity.
const surveyed = 25

// survey reads the recorded properties of stacks.
func (f *fleet) survey(ctx workflow.Context, stacks []spec.Stack) error {
	byQueue := map[string][]spec.Stack{}
	var queues []string
	for _, s := range stacks {
		if byQueue[s.Queue] == nil {
			queues = append(queues, s.Queue)
		}
		byQueue[s.Queue] = append(byQueue[s.Queue], s)
	}
	var futures []workflow.Future
	for _, queue := range queues {
		ctx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: ActivityQueue(f.Fleet, queue), StartToCloseTimeout: 30 * time.Minute, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 10 * time.Second},
		})
		for chunk := range slices.Chunk(byQueue[queue], surveyed) {
			futures = append(futures, workflow.ExecuteActivity(ctx, SurveyActivity, f.question(ctx, chunk)))
		}
	}
	for _, future := range futures {
		found := map[string]Surveyed{}
		if err := future.Get(ctx, &found); err != nil {
			return err
		}
		for _, s := range stacks {
			is, here := found[s.Name]
			if !here {
				continue
			}
			if f.Bound && is.Attempt != workflow.GetInfo(ctx).WorkflowExecution.RunID {
				return temporal.NewNonRetryableApplicationError("the survey of "+s.Name+" belongs to another run", "unbidden", nil)
			}
			f.known[s.Name], f.outputs[s.Name] = is.Known, is.Outputs
			if is.Same {
				f.same[s.Name] = is.Inputs
			}
			if is.Problem != "" && f.part[s.Name] {
				f.conclude(ctx, s.Name, Outcome{Status: Failed, Kind: Setup, Why: is.Problem, Began: f.now(), Ended: f.now()})
			}
		}
	}
	return nil
}

// question returns the survey request for stacks.
func (f *fleet) question(ctx workflow.Context, stacks []spec.Stack) Survey {
	if !f.Bound {
		return Survey{Stacks: stacks}
	}
	return Survey{Stacks: stacks, Attempt: workflow.GetInfo(ctx).WorkflowExecution.RunID, Schedule: f.Schedule, Does: f.Operation}
}

// arrange computes the order of the stacks.
func (f *fleet) arrange() error {
	o, err := order.Of(slices.Concat(f.Stacks, f.Others), f.known)
	var cycle *order.CycleError
	if errors.As(err, &cycle) {
		return temporal.NewNonRetryableApplicationError(cycle.Error(), cycleType, nil, cycle.Path)
	}
	if err != nil {
		return err
	}
	f.order = o
	return nil
}

// before returns the stacks of the run that come before a stack.
func (f *fleet) before(name string) []string {
	list := f.order.Needs(name)
	if f.Operation.Reversed() {
		list = f.order.NeededBy(name)
	}
	return slices.DeleteFunc(list, func(n string) bool { return !f.part[n] })
}

// begin begins the stacks that can begin, and gives outcomes to those that never will.
func (f *fleet) begin(ctx workflow.Context) {
	for again := true; again; {
		again = false
		for _, s := range f.Stacks {
			if f.isOver(s.Name) {
				continue
			}
			if _, runs := f.running[s.Name]; runs {
				continue
			}
			switch bad, open := f.obstacle(s.Name); {
			case bad != "":
				f.skip(ctx, s.Name, bad)
				again = true
			case open:
			case f.isUnchanged(s.Name):
				f.conclude(ctx, s.Name, Outcome{Status: Unchanged, Why: NothingNew, Began: f.now(), Ended: f.now()})
				again = true
			case f.Options.FailFast && f.hasFailed():
				f.conclude(ctx, s.Name, Outcome{Status: Skipped, Why: "another stack has failed, and --fail-fast ends the run then"})
				again = true
			case f.approvals.needPreview(s):
				if f.hasRoom(ctx, s) {
					f.start(ctx, s, true)
				}
			case f.approvals.await(ctx, s):
			case !f.hasRoom(ctx, s):
			default:
				f.start(ctx, s, false)
			}
		}
	}
}

func (f *fleet) isOver(name string) bool { _, over := f.outcomes[name]; return over }

func (f *fleet) hasFailed() bool {
	for _, s := range f.Stacks {
		if o, over := f.outcomes[s.Name]; over && !o.OK() {
			return true
		}
	}
	return false
}

// obstacle returns a preceding stack that has not succeeded, and whether one has not ended.
func (f *fleet) obstacle(name string) (bad string, open bool) {
	for _, n := range f.before(name) {
		switch o, over := f.outcomes[n]; {
		case !over:
			open = true
		case !o.OK():
			return n, false
		}
	}
	return "", open
}

// isUnchanged reports whether nothing needs to be done, without another look: according to the survey, nothing has changed except perhaps the stack's
// inputs, and these have not changed either. Predicted changes of a preview count as changes.
func (f *fleet) isUnchanged(name string) bool {
	was, same := f.same[name]
	if !same || f.Options.Force || f.Operation != Up && f.Operation != Preview || len(f.planned(name)) > 0 {
		return false
	}
	reads := f.order.Reads(name)
	return was != "" && was == InputsDigest(f.known[name].Reads, func(reference string) string { return f.outputs[reads[reference]] })
}

// skip gives a stack the outcome of one that comes after a failure.
func (f *fleet) skip(ctx workflow.Context, name, because string) {
	o := f.outcomes[because]
	chain := append(slices.Clone(o.Chain), because)
	word := "needs"
	if f.Operation.Reversed() {
		word = "is needed by"
	}
	var parts []string
	for i := len(chain) - 1; i >= 0; i-- {
		parts = append(parts, word+" "+chain[i])
	}
	end := f.outcomes[chain[0]].Status
	f.conclude(ctx, name, Outcome{Status: Skipped, Chain: chain, Why: fmt.Sprintf("%s, which %s", strings.Join(parts, ", which "), wordOf(end))})
}

func wordOf(s Status) string {
	switch s {
	case Canceled:
		return "was cancelled"
	case Refused:
		return "was not approved"
	case Skipped:
		return "was skipped"
	}
	return "failed"
}

func (f *fleet) hasRoom(ctx workflow.Context, s spec.Stack) bool {
	if len(f.running) >= f.Concurrency || f.isFull(ctx) {
		return false
	}
	for _, l := range s.Limits {
		if most, limited := f.Limits[l]; limited && f.used[l] >= most {
			return false
		}
	}
	return true
}

// isFull reports whether the history of this workflow is long enough.
func (f *fleet) isFull(ctx workflow.Context) bool {
	return f.Options.Each > 0 && f.begun >= f.Options.Each || workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// start starts the child of a stack, which carries out the operation, or previews it if look is set.
func (f *fleet) start(ctx workflow.Context, s spec.Stack, look bool) {
	info := workflow.GetInfo(ctx)
	f.begun++
	for _, l := range s.Limits {
		f.used[l]++
	}
	now := Running
	if f.approvals.lacks(s) && !look {
		now = Approving
	}
	f.running[s.Name] = StackView{Name: s.Name, Outcome: Outcome{Status: now, Began: f.now()}}
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: StackID(info.WorkflowExecution.ID, s.Name), WaitForCancellation: true,
		TypedSearchAttributes: f.attributesOf(ctx, s.Name),
	})
	r := StackRequest{
		Run: info.WorkflowExecution.ID, Fleet: f.Fleet, Operation: f.Operation, Stack: s, Options: f.Options, By: f.By, Limits: f.Limits,
		Inputs: f.inputs(s.Name), Planned: f.planned(s.Name), Approval: f.approvals.of(s.Name),
	}
	if f.Bound {
		r.Bound, r.Parent, r.Schedule, r.Look = true, info.WorkflowExecution.RunID, f.Schedule, look
	}
	future := workflow.ExecuteChildWorkflow(child, StackWorkflow, r)
	f.done.AddFuture(future, func(workflow.Future) { f.end(ctx, s, future, look) })
}

// end processes the outcome of a child.
func (f *fleet) end(ctx workflow.Context, s spec.Stack, future workflow.ChildWorkflowFuture, look bool) {
	began := f.running[s.Name].Began
	delete(f.running, s.Name)
	for _, l := range s.Limits {
		f.used[l]--
	}
	var o Outcome
	if err := future.Get(ctx, &o); err != nil {
		o = Outcome{Status: Failed, Kind: Lost, Why: err.Error()}
		if temporal.IsCanceledError(err) {
			o = Outcome{Status: Canceled, Why: "the run was cancelled"}
		}
	} else if f.Bound && !isOf(ctx, future, o) {
		o = Outcome{Status: Failed, Kind: Lost, Why: ofAnother}
	}
	if o.Ended = f.now(); o.Began.IsZero() { // nothing was done, or the child is of an earlier version
		o.Began = began
	}
	again := f.tryAgainAfter(ctx, s, o)
	switch {
	case look && again:
		return
	case look && o.Status == Succeeded, o.Status == Approving:
		f.approvals.show(s.Name, o)
		return
	case again:
		f.earlier[s.Name] = o
		return
	}
	if was, ok := f.earlier[s.Name]; ok && was.Status == Succeeded && o.Status == Unchanged {
		was.Ended, was.Outputs = o.Ended, o.Outputs
		o = was // its early reads turned out to be right
	}
	if o.Outputs != "" {
		f.outputs[s.Name] = o.Outputs
	}
	f.conclude(ctx, s.Name, o)
}

// isOf reports whether an outcome is that of a child, and not of one with the same ID in an earlier run.
func isOf(ctx workflow.Context, child workflow.ChildWorkflowFuture, o Outcome) bool {
	var is workflow.Execution
	return child.GetChildWorkflowExecution().Get(ctx, &is) == nil && o.Attempt == is.RunID
}

// conclude gives a stack its outcome.
func (f *fleet) conclude(ctx workflow.Context, name string, o Outcome) {
	delete(f.approvals.asked, name)
	f.outcomes[name] = o
	f.count(ctx, o)
}

// tryAgainAfter reports whether a stack has read an output of a stack that had not ended, without a known dependency. It is then repeated after that
// one, whether it has failed or has used the old value.
func (f *fleet) tryAgainAfter(ctx workflow.Context, s spec.Stack, o Outcome) bool {
	if o.Status == Succeeded || o.Status == Failed {
		known := f.known[s.Name]
		for _, reference := range o.Reads {
			if !slices.Contains(known.Reads, reference) {
				known.Reads = append(slices.Clone(known.Reads), reference)
			}
		}
		f.known[s.Name] = known
	}
	if o.Status != Succeeded && (o.Status != Failed || o.Kind != Program) || f.Operation.Reversed() {
		return false
	}
	found, err := order.Of(slices.Concat(f.Stacks, f.Others), f.known)
	if err != nil {
		return false // it reads a stack that comes after it
	}
	var later []string
	for _, name := range found.Needs(s.Name) {
		was, over := f.outcomes[name]
		isNew := !slices.Contains(f.order.Needs(s.Name), name)
		if f.part[name] && isNew && (!over || was.Ended.After(o.Began)) {
			later = append(later, name)
		}
	}
	switch {
	case len(later) == 0 && !f.lacksPredicted(ctx, s.Name, found),
		len(later) > 0 && o.Status == Succeeded && workflow.GetVersion(ctx, "again-after-success", workflow.DefaultVersion, 1) == workflow.DefaultVersion:
		return false
	}
	f.order = found
	return true
}

// lacksPredicted reports whether a stack reads, without a known dependency, outputs that a preview of another one predicts. It did not get those, and
// may have failed for that reason.
func (f *fleet) lacksPredicted(ctx workflow.Context, name string, found *order.Order) bool {
	for reference, owner := range found.Reads(name) {
		if _, known := f.order.Reads(name)[reference]; !known && !f.outcomes[owner].Planned.IsEmpty() {
			return workflow.GetVersion(ctx, "again-for-predicted", workflow.DefaultVersion, 1) != workflow.DefaultVersion
		}
	}
	return false
}

// inputs returns the digests of the outputs that a stack reads.
func (f *fleet) inputs(name string) map[string]string {
	out := map[string]string{}
	for reference, owner := range f.order.Reads(name) {
		out[reference] = f.outputs[owner]
	}
	return out
}

// planned returns the predicted outputs of the previewed stacks that a stack reads.
func (f *fleet) planned(name string) map[string]Planned {
	out := map[string]Planned{}
	for reference, owner := range f.order.Reads(name) {
		if p := f.outcomes[owner].Planned; !p.IsEmpty() {
			out[reference] = p
		}
	}
	return out
}

// cancelRest gives outcomes to the stacks that do not begin any more.
func (f *fleet) cancelRest(ctx workflow.Context) {
	for _, s := range f.Stacks {
		if _, runs := f.running[s.Name]; runs || f.isOver(s.Name) {
			continue
		}
		why := "the run was cancelled before it began"
		if _, asked := f.approvals.asked[s.Name]; asked {
			why = canceledUnapproved
		}
		f.conclude(ctx, s.Name, Outcome{Status: Canceled, Why: why})
	}
}

// view returns the present state of the run.
func (f *fleet) view() View {
	v := View{Fleet: f.Fleet, Operation: f.Operation, By: f.By, Began: f.began, Attempt: f.attempt}
	each := mostShown / max(len(f.Stacks), 1)
	for _, s := range f.Stacks {
		is := StackView{Name: s.Name, Outcome: Outcome{Status: Waiting}}
		if o, over := f.outcomes[s.Name]; over {
			is.Outcome = o.within(each)
		} else if now, runs := f.running[s.Name]; runs {
			is = now
		} else if since, asked := f.approvals.asked[s.Name]; asked {
			shown := f.approvals.shown[s.Name]
			is.Outcome = Outcome{Status: Approving, Began: since, Plan: shown.Plan, Changes: shown.Changes, Why: shown.Why}
		}
		if f.order != nil {
			is.Needs = f.before(s.Name)
		}
		v.Stacks = append(v.Stacks, is)
	}
	return v
}

// StackID returns the ID of the workflow of a stack in a run.
func StackID(run, stack string) string { return run + "/" + stack }

var (
	fleetAttribute     = temporal.NewSearchAttributeKeyKeyword("SluiceFleet")
	operationAttribute = temporal.NewSearchAttributeKeyKeyword("SluiceOperation")
	stackAttribute     = temporal.NewSearchAttributeKeyKeyword("SluiceStack")
)

// attributesOf returns the search attributes of a child, if the run has any: those of the run and the stack. A server without them refuses them.
func (f *fleet) attributesOf(ctx workflow.Context, stack string) temporal.SearchAttributes {
	if !workflow.GetTypedSearchAttributes(ctx).ContainsKey(fleetAttribute) {
		return temporal.NewSearchAttributes()
	}
	return temporal.NewSearchAttributes(f.SearchAttributes().Copy(), stackAttribute.ValueSet(stack))
}

// decide processes a decision. It ignores one without a name, and one that does not match the present question of the stack.
func (f *fleet) decide(ctx workflow.Context, d Decision) {
	since, is := f.approvals.answered(d, f.attempt)
	if !is {
		return
	}
	delete(f.approvals.asked, d.Stack)
	waited(ctx, "approval", since)
	d.At = f.now()
	if d.Granted {
		f.approvals.granted[d.Stack] = &d.Approval
	} else {
		f.conclude(ctx, d.Stack, refused(d.Approval))
	}
}

// count counts an outcome.
func (f *fleet) count(ctx workflow.Context, o Outcome) {
	m := workflow.GetMetricsHandler(ctx).WithTags(map[string]string{"fleet": f.Fleet, "operation": string(f.Operation), "status": string(o.Status)})
	m.Counter(StacksMetric).Inc(1)
	if !o.Began.IsZero() && o.Ended.After(o.Began) {
		m.Timer(DurationMetric).Record(o.Ended.Sub(o.Began))
	}
}

// CycleOf returns the cycle because of which a run has failed, nil for other errors.
func CycleOf(err error) *order.CycleError {
	var e *temporal.ApplicationError
	cycle := &order.CycleError{}
	if !errors.As(err, &e) || e.Type() != cycleType || e.Details(&cycle.Path) != nil {
		return nil
	}
	return cycle
}
