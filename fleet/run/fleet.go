package run

import (
	"errors"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
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
	request   Request
	began     time.Time
	knowledge *knowledge
	outcomes  outcomes
	earlier   map[string]Outcome // of stacks that are repeated
	approvals approvals
	attempt   string // the first workflow of the run, as the server names it
	room      room
	done      workflow.Selector
	now       func() time.Time
}

func newFleet(ctx workflow.Context, r Request) *fleet {
	f := &fleet{
		request: r, knowledge: newKnowledge(r), outcomes: outcomes{}, earlier: map[string]Outcome{}, attempt: firstOf(ctx), done: workflow.NewSelector(ctx),
		room: room{request: r, running: map[string]StackView{}, used: map[string]int{}}, now: func() time.Time { return workflow.Now(ctx) },
	}
	f.began = f.now()
	f.approvals = approvals{
		request: r, earlier: f.earlier, asked: map[string]time.Time{}, granted: map[string]*Approval{}, shown: map[string]Shown{},
	}
	if c := r.Carried; c != nil {
		f.began, f.outcomes = c.Began, c.Outcomes
		maps.Copy(f.earlier, c.Earlier)
		maps.Copy(f.approvals.asked, c.Asked)
		maps.Copy(f.approvals.granted, c.Approved)
		maps.Copy(f.approvals.shown, c.Shown)
	}
	return f
}

// Fleet is the workflow of a run.
func Fleet(ctx workflow.Context, r Request) (View, error) {
	f := newFleet(ctx, r)
	if err := workflow.SetQueryHandler(ctx, ViewQuery, func() (View, error) { return f.view(), nil }); err != nil {
		return View{}, err
	}
	if err := admit(ctx, r, f.attempt); err != nil {
		return f.view(), err
	}
	if r.Carried == nil {
		unreadable := func(name, why string) {
			f.conclude(ctx, name, Outcome{Status: Failed, Kind: Setup, Why: why, Began: f.now(), Ended: f.now()})
		}
		if err := f.knowledge.survey(ctx, slices.Concat(r.Stacks, r.Others), unreadable); err != nil {
			return f.view(), err
		}
	}
	if err := f.knowledge.arrange(); err != nil {
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
		if len(f.room.running) == 0 && (len(f.approvals.asked) == 0 || f.room.isFull(ctx)) {
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
	if len(f.outcomes) < len(f.request.Stacks) {
		return f.view(), f.goOn(ctx)
	}
	v := f.view()
	v.Ended = f.now()
	return v, nil
}

// goOn ends this workflow and continues the run in a new one, whose history is empty.
func (f *fleet) goOn(ctx workflow.Context) error {
	next := f.request
	for name, o := range f.outcomes { // each is cut in the same way, so the order does not matter
		f.outcomes[name] = o.within(mostShown / max(len(f.outcomes), 1))
	}
	next.Carried = &Carried{
		Began: f.began, Known: f.knowledge.known, Outputs: f.knowledge.outputs, Outcomes: f.outcomes, Same: f.knowledge.same, Earlier: f.earlier,
		Asked: f.approvals.asked, Approved: f.approvals.granted, Shown: f.approvals.shown, Attempt: f.attempt,
	}
	return workflow.NewContinueAsNewError(ctx, FleetWorkflow, next)
}

// begin begins the stacks that can begin, and gives outcomes to those that never will.
func (f *fleet) begin(ctx workflow.Context) {
	word := "needs"
	if f.request.Operation.Reversed() {
		word = "is needed by"
	}
	for again := true; again; {
		again = false
		for _, s := range f.request.Stacks {
			if f.outcomes.has(s.Name) {
				continue
			}
			if _, runs := f.room.running[s.Name]; runs {
				continue
			}
			switch bad, open := f.outcomes.obstacle(f.knowledge.before(s.Name)); {
			case bad != "":
				f.conclude(ctx, s.Name, f.outcomes.skipped(bad, word))
				again = true
			case open:
			case f.isUnchanged(s.Name):
				f.conclude(ctx, s.Name, Outcome{Status: Unchanged, Why: NothingNew, Began: f.now(), Ended: f.now()})
				again = true
			case f.request.Options.FailFast && f.outcomes.haveFailed(f.request.Stacks):
				f.conclude(ctx, s.Name, Outcome{Status: Skipped, Why: "another stack has failed, and --fail-fast ends the run then"})
				again = true
			case f.approvals.needPreview(s):
				if f.room.has(ctx, s) {
					f.start(ctx, s, true)
				}
			case f.approvals.await(ctx, s):
			case !f.room.has(ctx, s):
			default:
				f.start(ctx, s, false)
			}
		}
	}
}

// isUnchanged reports whether nothing needs to be done, without another look. Predicted changes of a preview count as changes.
func (f *fleet) isUnchanged(name string) bool {
	canBe := !f.request.Options.Force && (f.request.Operation == Up || f.request.Operation == Preview)
	return canBe && len(f.planned(name)) == 0 && f.knowledge.isUnchanged(name)
}

// planned returns the predicted outputs of the previewed stacks that a stack reads.
func (f *fleet) planned(name string) map[string]Planned {
	return f.outcomes.planned(f.knowledge.order.Reads(name))
}

// start starts the child of a stack, which carries out the operation, or previews it if look is set.
func (f *fleet) start(ctx workflow.Context, s spec.Stack, look bool) {
	info := workflow.GetInfo(ctx)
	now := Running
	if f.approvals.lacks(s) && !look {
		now = Approving
	}
	f.room.begin(s, Outcome{Status: now, Began: f.now()})
	child := workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: StackID(info.WorkflowExecution.ID, s.Name), WaitForCancellation: true,
		TypedSearchAttributes: f.attributesOf(ctx, s.Name),
	})
	r := StackRequest{
		Run: info.WorkflowExecution.ID, Fleet: f.request.Fleet, Operation: f.request.Operation, Stack: s, Options: f.request.Options, By: f.request.By,
		Limits: f.request.Limits, Inputs: f.knowledge.inputs(s.Name), Planned: f.planned(s.Name), Approval: f.approvals.of(s.Name),
	}
	if f.request.Bound {
		r.Bound, r.Parent, r.Schedule, r.Look = true, info.WorkflowExecution.RunID, f.request.Schedule, look
	}
	future := workflow.ExecuteChildWorkflow(child, StackWorkflow, r)
	f.done.AddFuture(future, func(workflow.Future) { f.end(ctx, s, future, look) })
}

// end processes the outcome of a child.
func (f *fleet) end(ctx workflow.Context, s spec.Stack, future workflow.ChildWorkflowFuture, look bool) {
	began := f.room.end(s).Began
	var o Outcome
	if err := future.Get(ctx, &o); err != nil {
		o = Outcome{Status: Failed, Kind: Lost, Why: err.Error()}
		if temporal.IsCanceledError(err) {
			o = Outcome{Status: Canceled, Why: "the run was cancelled"}
		}
	} else if f.request.Bound && !isOf(ctx, future, o) {
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
		f.knowledge.outputs[s.Name] = o.Outputs
	}
	f.conclude(ctx, s.Name, o)
}

// isOf reports whether an outcome is that of a child, and not of one with the same ID in an earlier run.
func isOf(ctx workflow.Context, child workflow.ChildWorkflowFuture, o Outcome) bool {
	var is workflow.Execution
	return child.GetChildWorkflowExecution().Get(ctx, &is) == nil && o.Attempt == is.RunID
}

// tryAgainAfter reports whether a stack has read an output of a stack that had not ended, without a known dependency. It is then repeated after that
// one, whether it has failed or has used the old value.
func (f *fleet) tryAgainAfter(ctx workflow.Context, s spec.Stack, o Outcome) bool {
	if o.Status == Succeeded || o.Status == Failed {
		f.knowledge.learn(s.Name, o.Reads)
	}
	if o.Status != Succeeded && (o.Status != Failed || o.Kind != Program) || f.request.Operation.Reversed() {
		return false
	}
	found, err := f.knowledge.arranged()
	if err != nil {
		return false // it reads a stack that comes after it
	}
	var later []string
	for _, name := range found.Needs(s.Name) {
		was, over := f.outcomes[name]
		isNew := !slices.Contains(f.knowledge.order.Needs(s.Name), name)
		if f.knowledge.part[name] && isNew && (!over || was.Ended.After(o.Began)) {
			later = append(later, name)
		}
	}
	switch {
	case len(later) == 0 && !f.lacksPredicted(ctx, s.Name, found),
		len(later) > 0 && o.Status == Succeeded && workflow.GetVersion(ctx, "again-after-success", workflow.DefaultVersion, 1) == workflow.DefaultVersion:
		return false
	}
	f.knowledge.order = found
	return true
}

// lacksPredicted reports whether a stack reads, without a known dependency, outputs that a preview of another one predicts. It did not get those, and
// may have failed for that reason.
func (f *fleet) lacksPredicted(ctx workflow.Context, name string, found *order.Order) bool {
	for reference, owner := range found.Reads(name) {
		if _, known := f.knowledge.order.Reads(name)[reference]; !known && !f.outcomes[owner].Planned.IsEmpty() {
			return workflow.GetVersion(ctx, "again-for-predicted", workflow.DefaultVersion, 1) != workflow.DefaultVersion
		}
	}
	return false
}

// conclude gives a stack its outcome.
func (f *fleet) conclude(ctx workflow.Context, name string, o Outcome) {
	delete(f.approvals.asked, name)
	f.outcomes[name] = o
	count(ctx, f.request, o)
}

// cancelRest gives outcomes to the stacks that do not begin any more.
func (f *fleet) cancelRest(ctx workflow.Context) {
	for _, s := range f.request.Stacks {
		if _, runs := f.room.running[s.Name]; runs || f.outcomes.has(s.Name) {
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
	v := View{Fleet: f.request.Fleet, Operation: f.request.Operation, By: f.request.By, Began: f.began, Attempt: f.attempt}
	each := mostShown / max(len(f.request.Stacks), 1)
	for _, s := range f.request.Stacks {
		is := StackView{Name: s.Name, Outcome: Outcome{Status: Waiting}}
		if o, over := f.outcomes[s.Name]; over {
			is.Outcome = o.within(each)
		} else if now, runs := f.room.running[s.Name]; runs {
			is = now
		} else if since, asked := f.approvals.asked[s.Name]; asked {
			shown := f.approvals.shown[s.Name]
			is.Outcome = Outcome{Status: Approving, Began: since, Plan: shown.Plan, Changes: shown.Changes, Why: shown.Why}
		}
		if f.knowledge.order != nil {
			is.Needs = f.knowledge.before(s.Name)
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
	return temporal.NewSearchAttributes(f.request.SearchAttributes().Copy(), stackAttribute.ValueSet(stack))
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

// CycleOf returns the cycle because of which a run has failed, nil for other errors.
func CycleOf(err error) *order.CycleError {
	var e *temporal.ApplicationError
	cycle := &order.CycleError{}
	if !errors.As(err, &e) || e.Type() != cycleType || e.Details(&cycle.Path) != nil {
		return nil
	}
	return cycle
}

// Register registers the workflows.
func Register(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(Fleet, workflow.RegisterOptions{Name: FleetWorkflow})
	r.RegisterWorkflowWithOptions(Limit, workflow.RegisterOptions{Name: LimitWorkflow})
	r.RegisterWorkflowWithOptions(Stack, workflow.RegisterOptions{Name: StackWorkflow})
}
