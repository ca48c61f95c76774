package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Report is the result of a case.
type Report struct {
	Faults     []string
	Operations int
	Attempts   int            // of operations, previews and checks included
	Compared   int            // operations whose attempts had to be equal
	Excused    map[string]int // the number of the others, by excuse
}

// history is a running case.
type history struct {
	Case
	Report
	world *world
	// second is the world of the stack that reads the outputs of the first one; nil until there is one.
	second *world
	ctx    context.Context
}

// play runs a case. It must be called in a bubble of testing/synctest.
func play(ctx context.Context, c Case) *history {
	h := &history{Case: c, world: newWorld(), ctx: ctx, Report: Report{Excused: map[string]int{}}}
	if h.run(); len(h.Faults) == 0 { // anything after a fault is a consequence
		h.destroy(len(c.Operations))
	}
	return h
}

// run runs the operations until a promise is broken.
func (h *history) run() {
	for i, op := range h.Case.Operations {
		h.world.land()
		for _, e := range op.Before {
			h.world.apply(e)
		}
		h.Report.Operations++
		if p := panics.Try(func() { h.step(i, op) }); p != nil {
			h.fault("%s %d: panic: %v\n%s", op.Do, i, p.Value, p.Stack)
		}
		if len(h.Faults) > 0 {
			return
		}
	}
}

// try runs an attempt and keeps its faults.
func (h *history) try(i int, op Operation, s Schedule, preview bool) *attempt {
	return h.tryHeld(i, op, s, preview, nil, nil)
}

func (h *history) tryHeld(i int, op Operation, s Schedule, preview bool, held *state.Plan, answers *providers.Answers) *attempt {
	h.Attempts++
	a := try(h.ctx, h.world, op, s, i, preview, held, answers)
	a.text, _ = encode(h.ctx, a.after.snapshot) // verify has encoded the same state
	for _, f := range verify(h.ctx, a) {
		h.fault("%s %d%s: %s", op.Do, i, a.label(s), f)
	}
	return a
}

func (h *history) fault(format string, args ...any) {
	h.Faults = append(h.Faults, fmt.Sprintf(format, args...))
}

// step runs one operation and its preview under every timing, and continues with the result of the first timing.
func (h *history) step(i int, op Operation) {
	var previews, attempts []*attempt
	for n, s := range h.Schedules {
		var answers *providers.Answers
		s.Reuse = s.Reuse && !op.failsToAnswer()
		if s.Reuse {
			answers = providers.NewAnswers(nil)
		}
		if n < 2 && op.Do != Recover {
			p := h.tryHeld(i, op.calm(), s, true, nil, answers)
			if answers != nil && p.err == nil && !p.result.HasChanges() {
				answers.Complete()
			}
			previews = append(previews, p)
		}
		attempts = append(attempts, h.tryHeld(i, op, s, false, nil, answers))
	}
	h.compare(i, string(op.Do), attempts)
	if len(previews) > 0 {
		h.compare(i, "preview", previews)
		h.predicted(i, previews[0], attempts[0])
		h.held(i, op, previews[0])
	}
	h.world = attempts[0].after
	h.reread(i, attempts[0].text)
	if attempts[0].err == nil && len(h.Faults) == 0 && len(op.Targets)+len(op.Excludes) == 0 {
		h.achieved(i, attempts[0])
	}
	if len(h.Faults) == 0 {
		h.race(i, op)
	}
	h.reader(i, attempts[0].text)
}

// reread makes the next operation begin with the state read back from a file.
func (h *history) reread(i int, text string) {
	s, err := decode(h.ctx, text)
	if err != nil {
		h.fault("operation %d: its state cannot be read: %v", i, err)
		return
	}
	if again, err := encode(h.ctx, s); err != nil || again != text {
		one, two := difference(text, again)
		h.fault("operation %d: its state does not survive reading (%v):\n%s\nbecomes\n%s", i, err, one, two)
	}
	h.world.snapshot = s
}

func (h *history) compare(i int, name string, attempts []*attempt) {
	why := excuseOf(attempts)
	if why == mustBeEqual {
		h.Compared++
	} else {
		h.Excused[string(why)]++
	}
	for n, a := range attempts[1:] {
		if why == mustBeEqual {
			if what, one, two := compare(attempts[0], a); what != "" {
				one, two = difference(one, two)
				h.fault("%s %d: the %s depends on timing; with timing 0 it is\n%s\nand with timing %d\n%s", name, i, what, one, n+1, two)
			}
		} else if why == stopped && !slices.ContainsFunc(attempts, (*attempt).mayFailOrNot) && (a.err == nil) != (attempts[0].err == nil) {
			h.fault("%s %d: whether it fails depends on timing: %v, %v", name, i, attempts[0].err, a.err)
		}
	}
}

// predicted compares an update with its preview, if the preview could predict it.
func (h *history) predicted(i int, preview, real *attempt) {
	if preview.err != nil || real.err != nil || real.op.Crash+real.op.Interrupt > 0 {
		return
	}
	if why := excuseOf([]*attempt{real}); why != mustBeEqual && why != shared {
		return
	}
	if preview.program != nil && preview.program.sawUnknown.Load() {
		return
	}
	late := real.readLate()
	if one, two := preview.outline(late), real.outline(late); one != two {
		one, two = difference(one, two)
		h.fault("%s %d: the preview is\n%s\nand what is done\n%s", real.op.Do, i, one, two)
	}
}

// held runs an update held to the plan of its preview: if the program has not changed, the plan must allow the update.
func (h *history) held(i int, op Operation, preview *attempt) {
	if !op.Planned || preview.err != nil || preview.result.Plan == nil {
		return
	}
	if preview.program.sawUnknown.Load() && slices.ContainsFunc(op.Program, func(d Declaration) bool { return d.Kind == Provider }) {
		return // a provider whose configuration is unknown cannot predict its changes
	}
	a := h.tryHeld(i, op.calm(), h.Schedules[0], false, preview.result.Plan, nil)
	var violation *stages.PlanViolation
	switch {
	case !errors.As(a.err, &violation), len(a.errors()) != 1: // resources missing because of another failure would be deleted
	case a.readLate()[violation.URN]:
		h.Excused[string(shared)]++
	default:
		h.fault("update %d: held to its own plan it fails: %v", i, a.err)
	}
}

// achieved checks that a successful operation has had its whole effect.
func (h *history) achieved(i int, a *attempt) {
	switch left := h.world.resources(); a.op.Do {
	case Update, Refresh:
		h.again(i, a)
	case Destroy:
		if len(left) > 0 {
			h.fault("destroy %d: it leaves %s and %d more", i, left[0].URN, len(left)-1)
		}
	}
}

// again repeats a successful update or refresh, which must then change nothing.
func (h *history) again(i int, first *attempt) {
	op := first.op.calm()
	op.Refresh, op.Replace, op.Throw = op.Refresh && op.RunProgram, nil, 0
	a := h.try(i+100, op, h.Schedules[0], false)
	if a.err != nil {
		deletedRead := strings.Contains(a.err.Error(), "does not exist")
		// The refresh has recorded a read under a name that is also an alias of a resource that it does not create (steps.md 2.4).
		aliasedRead := op.Do == Refresh && strings.Contains(a.err.Error(), "Duplicate resource alias")
		switch {
		case deletedRead, aliasedRead:
		case len(a.readChanged(first.calls, func(readCall, *call) bool { return true })) > 0:
			h.Excused[string(shared)]++ // the first one has changed or deleted the object of a resource under another name
		default:
			h.fault("%s %d: done a second time it fails: %v", op.Do, i, a.err)
		}
		return
	}
	if op.Do == Refresh && slices.ContainsFunc(h.world.resources(), func(r *state.Resource) bool { return r.PendingReplacement }) {
		return // with the program, a resource awaiting replacement counts as changed (decision 0012)
	}
	if !a.result.HasChanges() {
		return
	}
	contested := a.contested(first)
	rest := &sluice.Result{Changes: map[stages.Op]int{}}
	for _, s := range a.result.Steps() {
		if !contested[s.URN] {
			rest.Changes[s.Op]++
		}
	}
	if len(contested) > 0 && !rest.HasChanges() {
		h.Excused[string(shared)]++
		return
	}
	h.fault("%s %d: done a second time it does\n%s", op.Do, i, a.plan())
}

// destroy ends the history with a destroy, which must leave nothing.
func (h *history) destroy(i int) {
	op := Operation{Do: Destroy, Flags: Flags{ContinueOnError: true, IgnoreProtect: true}}
	a := h.try(i, op, h.Schedules[0], false)
	if a.err != nil {
		var failed *sluice.FailedError
		if errors.As(a.err, &failed) {
			h.fault("the destroy at the end fails: %s", strings.Join(a.errors(), "\n"))
		}
		return
	}
	if left := a.after.resources(); len(left) > 0 {
		h.fault("the destroy at the end leaves %s and %d more", left[0].URN, len(left)-1)
	}
}

func newLocks(s Schedule) *locks {
	return &locks{
		pause:    pauses(s.Seed, time.Duration(s.Milliseconds)*time.Millisecond/10),
		contents: map[string]content{}, holds: map[string]*hold{},
	}
}

// race runs the engines of an operation, if there are several, and continues with their result.
func (h *history) race(i int, op Operation) {
	if op.Race == nil || len(op.Race.Engines) == 0 {
		return
	}
	text, err := encode(h.ctx, h.world.snapshot)
	if err != nil {
		h.fault("%s %d: the state cannot be written: %v", op.Do, i, err)
		return
	}
	r := &race{history: h, number: i, op: op.calm(), stack: &depot{}, locks: newLocks(h.Schedules[0]), dead: map[string]bool{}, world: h.world, text: text}
	r.stack.file = []byte(text)
	var wg conc.WaitGroup
	for n, e := range op.Race.Engines {
		wg.Go(func() {
			time.Sleep(time.Duration(e.After) * time.Millisecond)
			r.engine(fmt.Sprint("engine ", n), e, op.Race.Server)
		})
	}
	wg.Wait()
	h.world = r.world
	if left := r.stack.copy(); left.journal != nil && len(r.dead) < len(op.Race.Engines) && !r.dead[r.holder] {
		h.fault("%s %d: the engines leave a journal", op.Do, i)
	}
}

// reader runs the reader of an operation, if there is one: an update of its own stack with the outputs after the operation.
func (h *history) reader(i int, text string) {
	r := h.Case.Operations[i].Reader
	if r == nil || len(h.Faults) > 0 {
		return
	}
	if h.second == nil {
		h.second = newWorld()
	}
	op := Operation{Do: Update, Program: r.Program, Manner: r.Manner, Flags: Flags{ContinueOnError: r.ContinueOnError}}
	read := func(ctx context.Context, _ string) (property.Map, error) { return outputsIn(ctx, text, r.Sealed) }
	var attempts []*attempt
	for n, s := range h.Schedules {
		for _, preview := range []bool{true, false} {
			if preview && n > 0 {
				continue
			}
			a := prepare(h.second, op, s, i, preview, nil)
			a.read = read
			a.run(h.ctx, s)
			a.text, _ = encode(h.ctx, a.after.snapshot) // verify has encoded the same state
			for _, f := range append(verify(h.ctx, a), a.verifyRead(text)...) {
				h.fault("reader %d%s: %s", i, a.label(s), f)
			}
			if !preview {
				attempts = append(attempts, a)
			}
		}
	}
	h.compare(i, "reader", attempts)
	h.second = attempts[0].after
}

// difference returns two texts without their common lines at the beginning and end.
func difference(one, two string) (string, string) {
	x, y := strings.Split(one, "\n"), strings.Split(two, "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return strings.Join(x, "\n"), strings.Join(y, "\n")
}
