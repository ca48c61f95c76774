package stagestest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// crowds is the number of runs in which items come from several goroutines: for the race detector, and for rules that only some
// orders break.
const crowds = 20

// Check tests a stage against the rules of its slot, and fails the test for each that it breaks. items makes items, anew in each
// call; their identities must differ. Check adds items that stages often get wrong: reads, components, providers, new resources,
// and those that the operation leaves out.
//
//   - Each item is emitted once, or there is an error for it; a stage does not panic.
//   - Deletes come in groups, of which a stage gets one after the other.
//   - Kept items are emitted when nothing else comes, because the program may wait for them.
//   - The result for an item does not depend on whether others wait behind it, and nothing is left over from an earlier operation.
//   - The end of the context ends the stage, and no item is lost.
//   - What a slot does not let a stage change stays as it is, and so do the goals and the recorded states that items share.
//   - Each function returns within five seconds.
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
	preview, update := stages.RunInfo{DryRun: true}, stages.RunInfo{}
	shared := all()
	before := contents(shared)
	first, returned := prompt(t, newRun(preview), shared)
	if !returned {
		return
	}
	requireRules(t, "a preview", first, true)
	if len(first.Broken) == 0 {
		requireSame(t, before, contents(shared))
	}
	if isGrouped[In]() {
		groups := newRun(preview)
		groups.do(t.Context(), together, all())
		requireRules(t, "the second group of an operation", groups.do(t.Context(), together, all()), true)
	}
	for what, p := range map[string]pace{"the next preview": together, "a program that waits for each item": single} {
		if p == single && isGrouped[In]() {
			continue
		}
		again := newRun(preview).do(t.Context(), p, all())
		requireRules(t, what, again, true)
		if was, is := first.outcome(), again.outcome(); was != is {
			t.Errorf("%s: other items have been emitted and refused than in the first preview.\nfirst:\n%s\nnow:\n%s", what, was, is)
		}
	}
	requireRules(t, "an update", newRun(update).do(t.Context(), together, all()), true)
	for range crowds {
		requireRules(t, "items from many goroutines", newRun(preview).do(t.Context(), crowded, all()), true)
	}
	for after := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		r, n := newRun(update), 0
		r.seen = func() {
			if n++; n == after {
				cancel()
			}
		}
		if after == 0 {
			cancel()
		}
		requireRules(t, fmt.Sprintf("a context that ends after %d items", after), r.do(ctx, together, all()), false)
		cancel()
	}
}

// prompt passes all items to a stage, and fails the test if it does not return.
func prompt[In, Out Item](t testing.TB, r *run[In, Out], items []In) (result Result[Out], returned bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	returned = true
	r.late = func(text string) {
		returned = false
		t.Errorf("%s", text)
		cancel()
	}
	return r.do(ctx, together, items), returned
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

// requireRules fails the test if a rule is broken. whole is true if all items must have come out or been refused.
func requireRules[T Item](t testing.TB, what string, r Result[T], whole bool) {
	t.Helper()
	for _, b := range r.Broken {
		t.Errorf("%s: %v", what, b)
	}
	var p *pipeline.PanicError
	switch {
	case len(r.Broken) > 0:
	case errors.As(r.Err, &p):
		t.Errorf("%s: the stage has panicked: %v\n%s", what, p, p.Stack)
	case whole && r.Err != nil && len(r.Refused) == 0:
		t.Errorf("%s: %v", what, r.Err)
	}
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
