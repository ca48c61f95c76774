package stagestest

import (
	"context"
	"errors"
	"fmt"
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
	first := newRun(preview).do(t.Context(), together, all())
	requireRules(t, "a preview", first, true)
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
