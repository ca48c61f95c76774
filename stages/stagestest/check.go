package stagestest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// crowds is the number of runs in which items come from several goroutines: for the race detector, and for rules that only some
// orders break.
const crowds = 20

// Check tests a stage against the rules of its slot, and fails the test once for each mistake. items makes items, anew in each
// call; their identities must differ. Check adds items that stages often get wrong: reads, components, providers, new resources,
// and those that the operation leaves out.
//
//   - Each item is emitted once, or there is an error for it, and not both; a stage does not panic.
//   - A stage says that the pipeline has stopped only if it has.
//   - Deletes come in groups, of which a stage gets one after the other.
//   - Kept items are emitted when nothing else comes, because the program may wait for them.
//   - The result for an item does not depend on whether others wait behind it, and nothing is left over from an earlier operation.
//   - The end of the context ends the stage, and no item is lost.
//   - What a slot does not let a stage change stays as it is, and so do the goals and the recorded states that items share.
//   - Each function returns within five seconds. Otherwise Check ends the context, and then leaves behind what still does not return.
//   - Items may come from many goroutines. Run the test with -race.
func Check[T Item](t testing.TB, newStage Stage[T], items func() []T) {
	t.Helper()
	check(t, func(i stages.RunInfo) *run[T, T] { return inSlot(i, newStage) }, items)
}

// CheckReplacement is [Check] for a stage in the place of a standard one; see [RunReplacement].
func CheckReplacement[In, Out Item](t testing.TB, newStage Replacement[In, Out], standard func(In) (Out, error), items func() []In) {
	t.Helper()
	check(t, func(i stages.RunInfo) *run[In, Out] { return inPlace(i, newStage, standard) }, items)
}

func check[In, Out Item](t testing.TB, newRun func(stages.RunInfo) *run[In, Out], items func() []In) {
	t.Helper()
	all := func() []In { return append(items(), unusual[In]()...) }
	if seen := identities(all()); len(seen) != len(all()) {
		t.Errorf("the items must have different identities; give the resources different names")
		return
	}
	c := &checker[In, Out]{TB: t, newRun: newRun, items: all, said: map[string]bool{}}
	c.previews()
	c.pass("an update", c.update(), together, true)
	for range crowds {
		c.pass("items from many goroutines", c.preview(), crowded, true)
	}
	for after := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		r, n := c.update(), 0
		r.seen = func() {
			if n++; n == after {
				cancel()
			}
		}
		if after == 0 {
			cancel()
		}
		c.passUnder(ctx, fmt.Sprintf("a context that ends after %d items", after), r, together, all(), false)
		cancel()
	}
}

// checker is one call of [Check].
type checker[In, Out Item] struct {
	testing.TB
	newRun func(stages.RunInfo) *run[In, Out]
	items  func() []In
	said   map[string]bool // the problems that have been reported
	late   bool            // the stage has not returned: nothing more is tried
}

func (c *checker[In, Out]) preview() *run[In, Out] { return c.newRun(stages.RunInfo{DryRun: true}) }

func (c *checker[In, Out]) update() *run[In, Out] { return c.newRun(stages.RunInfo{}) }

// say fails the test, once for each problem. what is the attempt in which it was found.
func (c *checker[In, Out]) say(what, problem, details string) {
	c.Helper()
	if !c.said[problem] {
		c.said[problem] = true
		c.Errorf("%s: %s%s", what, problem, details)
	}
}

// previews checks several previews, which have the same result.
func (c *checker[In, Out]) previews() {
	c.Helper()
	shared := c.items()
	before := contents(shared)
	first := c.passUnder(c.Context(), "a preview", c.preview(), together, shared, true)
	if len(first.Broken) == 0 && !c.late {
		requireSame(c.TB, before, contents(shared))
	}
	if isGrouped[In]() {
		groups := c.preview()
		c.pass("the first group of an operation", groups, together, true)
		c.pass("the second group of an operation", groups, together, true)
	}
	for what, p := range map[string]pace{"the next preview": together, "a program that waits for each item": single} {
		if p == single && isGrouped[In]() {
			continue
		}
		again := c.pass(what, c.preview(), p, true)
		if c.late || !c.requireRules(what, first, true) || !c.requireRules(what, again, true) {
			continue // what had passed by then depends on timing
		}
		if was, is := first.outcome(), again.outcome(); was != is {
			c.say(what, fmt.Sprintf("other items have been emitted and refused than in the first preview.\nfirst:\n%s\nnow:\n%s", was, is), "")
		}
	}
}

// pass is passUnder for new items, without an end of the context.
func (c *checker[In, Out]) pass(what string, r *run[In, Out], p pace, whole bool) Result[Out] {
	c.Helper()
	return c.passUnder(c.Context(), what, r, p, c.items(), whole)
}

// passUnder passes items to a stage, and fails the test if it breaks a rule or does not return. whole is true if all items must have come out or been
// refused. If the stage does not even return after its context has ended, it is left behind.
func (c *checker[In, Out]) passUnder(ctx context.Context, what string, r *run[In, Out], p pace, items []In, whole bool) (result Result[Out]) {
	c.Helper()
	if c.late {
		return result
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waiting, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	late := await.NewPromise[string]()
	r.late = func(text string) {
		late.Resolve(text)
		cancel()
		time.AfterFunc(slot.Patience, giveUp)
	}
	over := await.NewPromise[Result[Out]]()
	var work conc.WaitGroup // nothing waits for a stage that never returns
	work.Go(func() {
		var done Result[Out]
		pipeline.Attempt(func() error { done = r.do(ctx, p, items); return nil }, func(err error) { over.Decide(done, err) })
	})
	result, err := over.Wait(waiting)
	if late.Decided() {
		c.late = true
		text, _ := late.Wait(c.Context())
		if err != nil {
			text += ". It has not returned when its context had ended, either"
		}
		c.say(what, text, "")
		return result
	}
	if err != nil {
		c.say(what, err.Error(), "")
		return result
	}
	c.requireRules(what, result, whole)
	return result
}

// field is a field of something that items share with the engine and with each other.
type field struct {
	item fmt.Stringer
	name string
	text string // of its value, with all that it contains
}

// contents describes the goals, the recorded states and the steps of items.
func contents[T Item](items []T) []field {
	var all []field
	for _, item := range items {
		for _, part := range sharedParts(item) {
			v := reflect.ValueOf(part)
			if v.IsNil() {
				continue
			}
			v = v.Elem()
			for i := range v.NumField() {
				in := v.Field(i)
				if in.Kind() == reflect.Pointer && !in.IsNil() && in.Elem().Kind() != reflect.Struct {
					in = in.Elem()
				}
				all = append(all, field{item, v.Type().Name() + "." + v.Type().Field(i).Name, fmt.Sprintf("%+v", in)})
			}
		}
	}
	return all
}

// sharedParts returns pointers to what an item shares.
func sharedParts(item any) []any {
	switch i := item.(type) {
	case stages.Registered:
		return []any{i.Goal, i.Read}
	case stages.Located:
		return append(sharedParts(i.Registered), i.Old)
	case stages.Checked:
		return sharedParts(i.Located)
	case stages.Analyzed:
		return sharedParts(i.Located)
	case stages.Diffed:
		return sharedParts(i.Located)
	case stages.Built:
		return append(sharedParts(i.Located), steps(i.Steps())...)
	case stages.Executed:
		return steps(i.Steps)
	case stages.Deleting:
		return []any{i.Old}
	case stages.Deleted:
		return []any{i.Old}
	}
	return nil
}

func steps(list []*stages.Decision) []any {
	var all []any
	for _, s := range list {
		all = append(all, s)
	}
	return all
}

// requireSame fails the test if a stage has changed what others share.
func requireSame(t testing.TB, before, after []field) {
	t.Helper()
	for i, was := range before {
		if is := after[i]; is.text != was.text {
			t.Errorf("%s: the stage has changed %s in place, from %s to %s, and others share it; make a copy, change that, and emit the item with it",
				was.item, was.name, was.text, is.text)
		}
	}
}

// requireRules fails the test if a rule is broken, and then returns false.
func (c *checker[In, Out]) requireRules(what string, r Result[Out], whole bool) bool {
	c.Helper()
	for _, b := range r.Broken {
		c.say(what, b.Error(), "")
	}
	var p *pipeline.PanicError
	switch {
	case len(r.Broken) > 0:
	case errors.As(r.Err, &p):
		problem := p.Error()
		if failed := (*stages.StageFailedError)(nil); errors.As(r.Err, &failed) {
			problem = failed.Item + ": " + problem
		}
		c.say(what, "the stage has panicked: "+problem, "\n"+string(p.Stack))
	case whole && r.Err != nil && len(r.Refused) == 0:
		c.say(what, r.Err.Error(), "")
	default:
		return true
	}
	return false
}

func identities[T Item](items []T) map[stages.Identity]bool {
	out := map[stages.Identity]bool{}
	for _, item := range items {
		out[item.Identity()] = true
	}
	return out
}

// unusual returns items that are not resources changed by calls of a provider.
func unusual[T Item]() []T {
	var out []T
	for i, r := range []Resource{
		{Name: "stagestest-new"},
		{Name: "stagestest-same", Recorded: true},
		{Name: "stagestest-component", Type: "my:index:Component", Component: true},
		{Name: "stagestest-provider", Type: "pulumi:providers:test"},
		{Name: "stagestest-left-out", Recorded: true, Course: stages.LeftOut},
		{Name: "stagestest-bypassed", Course: stages.Bypassed},
		{Name: "stagestest-import-failed", Course: stages.ImportFailed},
	} {
		r.Seq = 1_000_000 + i
		out = append(out, r.item(slotOf[T]()).(T))
	}
	if read, ok := readItem(slotOf[T]()).(T); ok {
		out = append(out, read)
	}
	return out
}

// readItem returns the item of a read, nil for slots in which reads are no different.
func readItem(slot string) any {
	registered := stages.Registered{
		PendingReply: stages.NewPendingReply(true), Read: &stages.ReadGoal{Type: "test:index:Thing", Name: "stagestest-read", ID: property.String("id")},
	}
	l := stages.Located{Registered: registered, Seq: 2_000_000, URN: urn.New(Stack, Project, "", "test:index:Thing", "stagestest-read")}
	switch slot {
	case "Registered":
		return registered
	case "Located":
		return l
	case "Checked":
		return stages.Checked{Located: l}
	case "Analyzed":
		return stages.Analyzed{Checked: stages.Checked{Located: l}}
	case "Diffed":
		return stages.Diffed{Analyzed: stages.Analyzed{Checked: stages.Checked{Located: l}}}
	case "Built":
		return stages.Built{Located: l}
	}
	return nil
}
