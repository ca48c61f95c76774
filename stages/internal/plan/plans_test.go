package plan

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:T"

var web = urn.New("dev", "p", "", thing, "web")

type values = map[string]property.Value

func object(m values) property.Map { return property.NewMap(m) }

func newPlans(t *testing.T, s stages.Settings, recorded ...*state.Resource) *Plans {
	t.Helper()
	s.Base = &state.Snapshot{Resources: recorded}
	c := control.NewControl(t.Context(), s.Info, time.Now, nil)
	b, w := rooms.NewRooms(s)
	w.Base.Open(rooms.Recorded{Snapshot: s.Base})
	return NewPlans(c, b, s)
}

// held is a run with a plan for one resource.
func held(t *testing.T, r *state.PlannedResource, recorded ...*state.Resource) *Plans {
	t.Helper()
	return newPlans(t, stages.Settings{Plan: &state.Plan{Resources: map[urn.URN]*state.PlannedResource{web: r}}}, recorded...)
}

func ops(list ...stages.Op) []string {
	var out []string
	for _, op := range list {
		out = append(out, string(op))
	}
	return out
}

func step(op stages.Op) *stages.Decision {
	return &stages.Decision{StepInfo: stages.StepInfo{Op: op, URN: web}, Answers: true}
}

// checked is a registration whose inputs have been checked.
func checked(old *state.Resource, inputs property.Map) stages.Checked {
	goal := &stages.Goal{Type: thing, Name: "web", Custom: true, Inputs: inputs}
	return stages.Checked{
		Located: stages.Located{Seq: 1, URN: web, Old: old, Claimed: old, Registered: stages.Registered{Goal: goal}},
		Inputs:  inputs, Accepted: inputs,
	}
}

func diffed(c stages.Checked) stages.Diffed {
	return stages.Diffed{Analyzed: stages.Analyzed{Checked: c}}
}

func TestLessThanPlannedMayBeDone(t *testing.T) {
	all := []stages.Op{
		stages.OpSame, stages.OpCreate, stages.OpUpdate, stages.OpReplace, stages.OpCreateReplacement, stages.OpDeleteReplaced, stages.OpDelete,
	}
	may := map[stages.Op][]stages.Op{
		stages.OpSame:              {stages.OpSame},
		stages.OpCreate:            {stages.OpSame, stages.OpCreate},
		stages.OpUpdate:            {stages.OpSame, stages.OpUpdate},
		stages.OpDelete:            {stages.OpDelete},
		stages.OpReplace:           {stages.OpSame, stages.OpUpdate, stages.OpReplace},
		stages.OpCreateReplacement: {stages.OpSame, stages.OpUpdate, stages.OpCreateReplacement},
		stages.OpDeleteReplaced:    {stages.OpSame, stages.OpUpdate, stages.OpDeleteReplaced},
	}
	for planned, list := range may {
		for _, actual := range all {
			require.Equal(t, slices.Contains(list, actual), allows(string(planned), actual), "%s where %s is planned", actual, planned)
		}
	}
}

func TestPropertiesThatChangeOtherwiseThanPlannedAreNamed(t *testing.T) {
	p := newPlans(t, stages.Settings{})
	one, two := property.Number(1), property.Number(2)
	for _, c := range []struct {
		name            string
		former          values
		now             values
		plan            state.PlannedDiff
		want            string // of the rule; "" is as planned
		planned, actual string
	}{
		{name: "nothing changes", former: values{"a": one}, now: values{"a": one}},
		{name: "as added", now: values{"a": one}, plan: state.PlannedDiff{Adds: object(values{"a": one})}},
		{name: "as updated", former: values{"a": one}, now: values{"a": two}, plan: state.PlannedDiff{Updates: object(values{"a": two})}},
		{name: "as deleted", former: values{"a": one}, plan: state.PlannedDiff{Deletes: []string{"a"}}},
		{name: "an unknown that is known now", now: values{"a": two}, plan: state.PlannedDiff{Adds: object(values{"a": property.Computed()})}},
		{name: "an unknown that turns out to be nothing", plan: state.PlannedDiff{Adds: object(values{"a": property.Computed()})}},
		{
			name: "another value", now: values{"a": two}, plan: state.PlannedDiff{Adds: object(values{"a": one})},
			want: "properties changed: ++a[{1}!={2}]", planned: "`a` becomes 1", actual: "`a` is 2",
		},
		{
			name: "an addition that was not planned", now: values{"a": two},
			want: "properties changed: =+a[{2}]", planned: "`a` is not set", actual: "`a` is 2",
		},
		{
			name: "an update that was not planned", former: values{"a": one}, now: values{"a": two},
			want: "properties changed: =~a[{2}]", planned: "`a` stays 1", actual: "`a` is 2",
		},
		{
			name: "a deletion that was not planned", former: values{"a": one},
			want: "properties changed: =-a", planned: "`a` stays 1", actual: "`a` is not set",
		},
		{
			name: "a deletion that does not happen", former: values{"a": one}, now: values{"a": one}, plan: state.PlannedDiff{Deletes: []string{"a"}},
			want: "properties changed: -=a[{1}]", planned: "`a` is deleted", actual: "`a` is 1",
		},
		{
			name: "another secret", now: values{"a": property.Secret(two)}, plan: state.PlannedDiff{Adds: object(values{"a": property.Secret(one)})},
			want: "properties changed: ++a[{[secret]}!={[secret]}]", planned: "`a` becomes [secret]", actual: "`a` is another [secret]",
		},
		{
			name: "all of them, by name", now: values{"b": one, "a": one},
			want: "properties changed: =+a[{1}], =+b[{1}]", planned: "`a` is not set, `b` is not set", actual: "`a` is 1, `b` is 1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := p.wording.changedProperties(object(c.former), object(c.now), c.plan)
			if c.want == "" {
				require.Nil(t, d)
				return
			}
			require.Equal(t, &difference{text: c.want, planned: c.planned, now: c.actual}, d)
		})
	}
}

func TestSetsDifferByTheirMembersAlone(t *testing.T) {
	require.Nil(t, changedSet("names", []string{"a", "b", "a"}, []string{"b", "a"}))
	d := changedSet("names", []string{"c", "a", "b"}, []string{"z", "b", "y"})
	require.Equal(t, "names changed: added y, z; deleted a, c", d.text)
	require.Equal(t, "no names", changedSet("names", nil, []string{"a"}).planned)
}

func TestViolationsShowNoSecretsUnlessAsked(t *testing.T) {
	nested := property.Of(object(values{"in": property.ArrayOf(property.Secret(property.String("hunter2")))}))
	require.Equal(t, "{map[in:{[{[secret]}]}]}", wording{}.braced(nested))
	require.Equal(t, "{map[in:{[{hunter2}]}]}", wording{showSecrets: true}.braced(nested))
}

func TestViolationsShowTheBeginningOfLongValues(t *testing.T) {
	text := wording{}.braced(property.String(strings.Repeat("é", 200)))
	require.True(t, utf8.ValidString(text))
	require.LessOrEqual(t, len(text), bracedLimit+len("…}"))
	require.True(t, strings.HasSuffix(text, "…}"))
}

func TestAProviderThatWasToBeCreatedIsTheOneThatWasPlanned(t *testing.T) {
	main, other := urn.New("dev", "p", "", "pulumi:providers:x", "main"), urn.New("dev", "p", "", "pulumi:providers:x", "other")
	ref := func(u urn.URN, id string) string { return urn.ProviderRef{URN: u, ID: id}.String() }
	require.True(t, isProviderPlanned("", ""))
	require.True(t, isProviderPlanned(ref(main, "1"), ref(main, "1")))
	require.True(t, isProviderPlanned(ref(main, urn.UnknownID), ref(main, "1")))
	require.False(t, isProviderPlanned(ref(main, "1"), ref(main, "2")))
	require.False(t, isProviderPlanned(ref(main, urn.UnknownID), ref(other, "1")))
	require.False(t, isProviderPlanned("", ref(main, "1")))
}

func TestEachStepOfAPlanIsUsedOnce(t *testing.T) {
	p := held(t, &state.PlannedResource{Goal: &state.PlannedGoal{}, Ops: ops(stages.OpUpdate)})
	d := diffed(checked(nil, property.Map{}))
	require.NoError(t, p.Follow(d, []*stages.Decision{step(stages.OpUpdate)}))
	err := p.Follow(d, []*stages.Decision{step(stages.OpUpdate)})
	require.True(t, stages.IsReported(err))
	require.ErrorContains(t, err, "no more steps were expected")
	require.True(t, p.control.IsHalted())
}

func TestAStepThatIsNotPlannedStopsTheRunBeforeItBegins(t *testing.T) {
	for name, c := range map[string]struct {
		planned *state.PlannedResource
		op      stages.Op
		text    string
	}{
		"another kind":     {&state.PlannedResource{Goal: &state.PlannedGoal{}, Ops: ops(stages.OpUpdate)}, stages.OpDelete, "constrained to update"},
		"another resource": {nil, stages.OpCreate, "no steps were expected"},
	} {
		t.Run(name, func(t *testing.T) {
			s := stages.Settings{Plan: &state.Plan{Resources: map[urn.URN]*state.PlannedResource{}}}
			if c.planned != nil {
				s.Plan.Resources[web] = c.planned
			}
			p := newPlans(t, s)
			err := p.Follow(diffed(checked(nil, property.Map{})), []*stages.Decision{step(c.op)})
			var violation *stages.PlanViolation
			require.ErrorAs(t, err, &violation)
			require.Contains(t, violation.Rule, c.text)
			require.Equal(t, web, violation.URN)
			require.True(t, p.control.IsHalted())
		})
	}
}

func TestWhatStaysNeedsNoPlan(t *testing.T) {
	p := newPlans(t, stages.Settings{Plan: &state.Plan{}})
	require.NoError(t, p.Follow(diffed(checked(nil, property.Map{})), []*stages.Decision{step(stages.OpSame)}))
}

// The end phase deletes old copies, and so does a delete-before-replace of what they depend on. What is planned for the resource
// itself may turn out to be less, or to be uncertain.
func TestTheDeleteOfAnOldCopyMayComeBeforeOrAfter(t *testing.T) {
	old := &state.Resource{URN: web, Delete: true}
	for _, deletion := range []stages.Op{stages.OpDelete, stages.OpDeleteReplaced} {
		for planned, actual := range map[stages.Op]stages.Op{
			stages.OpSame: stages.OpSame, stages.OpUpdate: stages.OpUpdate, stages.OpCreate: stages.OpSame,
		} {
			for _, uncertain := range []bool{false, true} {
				remove := step(deletion)
				remove.Old = old
				for _, order := range [][]*stages.Decision{{remove, step(actual)}, {step(actual), remove}} {
					p := held(t, &state.PlannedResource{Goal: &state.PlannedGoal{}, Ops: ops(deletion, planned), Uncertain: uncertain}, old)
					require.NoError(t, p.Follow(diffed(checked(nil, property.Map{})), order), "%v %v", deletion, planned)
					p.CheckPlanFulfilled()
					require.Empty(t, p.control.Failures())
				}
			}
		}
	}
}

func TestWhatWasPlannedAndDidNotHappenFailsTheRun(t *testing.T) {
	planned := func() *state.PlannedResource {
		return &state.PlannedResource{Goal: &state.PlannedGoal{}, Ops: ops(stages.OpCreate)}
	}
	p := held(t, planned())
	p.CheckPlanFulfilled()
	require.Len(t, p.control.Failures(), 1)
	require.ErrorContains(t, p.control.Failures()[0], "expected resource operations for "+string(web))
	require.False(t, p.control.IsHalted())

	p = held(t, planned())
	p.control.Halt()
	p.CheckPlanFulfilled()
	require.Empty(t, p.control.Failures(), "a run that has stopped could not do what was planned")
}

func TestADeleteOfWhatIsGoneAlreadyIsNotMissed(t *testing.T) {
	deleted := &state.PlannedResource{Ops: ops(stages.OpDelete)}
	p := held(t, deleted)
	p.CheckPlanFulfilled()
	require.Empty(t, p.control.Failures())
	p = held(t, deleted, &state.Resource{URN: web})
	p.CheckPlanFulfilled()
	require.Len(t, p.control.Failures(), 1)
}

// The values that were unknown in the preview may make a replacement unnecessary.
func TestAnUncertainReplacementMayBeLeftOut(t *testing.T) {
	replacement := ops(stages.OpCreateReplacement, stages.OpReplace, stages.OpDeleteReplaced)
	for uncertain, failures := range map[bool]int{true: 0, false: 1} {
		p := held(t, &state.PlannedResource{Goal: &state.PlannedGoal{}, Ops: replacement, Uncertain: uncertain})
		require.NoError(t, p.Follow(diffed(checked(nil, property.Map{})), []*stages.Decision{step(stages.OpUpdate)}))
		p.CheckPlanFulfilled()
		require.Len(t, p.control.Failures(), failures, "uncertain: %v", uncertain)
	}
}

func TestAnUncertainReplacementMayBeTakenInAnotherOrder(t *testing.T) {
	planned := ops(stages.OpDeleteReplaced, stages.OpReplace, stages.OpCreateReplacement)
	actual := []*stages.Decision{step(stages.OpCreateReplacement), step(stages.OpReplace), step(stages.OpDeleteReplaced)}
	p := held(t, &state.PlannedResource{Goal: &state.PlannedGoal{}, Ops: planned, Uncertain: true})
	require.NoError(t, p.Follow(diffed(checked(nil, property.Map{})), actual))
	p = held(t, &state.PlannedResource{Goal: &state.PlannedGoal{}, Ops: planned})
	require.Error(t, p.Follow(diffed(checked(nil, property.Map{})), actual))
}

func TestARegistrationIsHeldToTheGoalOfThePlan(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name   string
		change func(*state.PlannedGoal)
		text   string
	}{
		{"kind", func(g *state.PlannedGoal) { g.Custom = false }, "resource kind changed (expected component)"},
		{"provider", func(g *state.PlannedGoal) { g.Provider = "p" }, "provider changed"},
		{"parent", func(g *state.PlannedGoal) { g.Parent = web }, "parent changed"},
		{"protect", func(g *state.PlannedGoal) { g.Protect = true }, "protect changed (expected true)"},
		{"deleteBeforeReplace", func(g *state.PlannedGoal) { g.DeleteBeforeReplace = &yes }, "deleteBeforeReplace changed (expected true)"},
		{"import", func(g *state.PlannedGoal) { g.ImportID = "1" }, "importID changed"},
		{"timeout", func(g *state.PlannedGoal) { g.CustomTimeouts.Read = 3 }, "read timeout changed (expected 3)"},
		{"ignoreChanges", func(g *state.PlannedGoal) { g.IgnoreChanges = []string{"a"} }, "ignoreChanges changed: deleted a"},
		{"dependencies", func(g *state.PlannedGoal) { g.Dependencies = []urn.URN{web} }, "dependencies changed: deleted " + string(web)},
		{"inputs", func(g *state.PlannedGoal) {
			g.Inputs.Adds = object(values{"b": property.Number(1)})
		}, "properties changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			goal := &state.PlannedGoal{Custom: true}
			p := held(t, &state.PlannedResource{Goal: goal, Ops: ops(stages.OpCreate)})
			reg := checked(nil, property.Map{})
			require.NoError(t, p.HoldToPlan(&reg))
			c.change(goal)
			err := p.HoldToPlan(&reg)
			require.True(t, stages.IsReported(err))
			require.ErrorContains(t, err, "resource "+string(web)+" violates plan: "+c.text)
		})
	}
}

// Build decides whether a recorded resource is made anew, so that other inputs count.
func TestAViolationByARecordedResourceIsForBuildToSay(t *testing.T) {
	p := held(t, &state.PlannedResource{Goal: &state.PlannedGoal{Custom: true, Protect: true}})
	reg := checked(&state.Resource{URN: web, Custom: true}, property.Map{})
	require.NoError(t, p.HoldToPlan(&reg))
	require.NotNil(t, reg.Violation)
	require.False(t, p.control.IsHalted())
}

func TestWhatThePlanDeletesMustNotBeDeclared(t *testing.T) {
	p := held(t, &state.PlannedResource{Ops: ops(stages.OpDelete)})
	reg := checked(nil, property.Map{})
	require.ErrorContains(t, p.HoldToPlan(&reg), "resource unexpectedly not deleted")
}

func TestWhatThePlanDoesNotNameMustStayAsItIsRecorded(t *testing.T) {
	old := &state.Resource{URN: web, Custom: true, Inputs: object(values{"a": property.Number(1)})}
	p := newPlans(t, stages.Settings{Plan: &state.Plan{}}, old)
	same, changed := checked(old, old.Inputs), checked(old, object(values{"a": property.Number(2)}))
	require.NoError(t, p.HoldToPlan(&same))
	require.Nil(t, same.Violation)
	require.NoError(t, p.HoldToPlan(&changed))
	require.NotNil(t, changed.Violation)
}

func TestRandomValuesComeOutAsTheyWerePreviewed(t *testing.T) {
	preview := newPlans(t, stages.Settings{MakePlan: true, Entropy: []byte("preview")})
	require.NoError(t, preview.Follow(diffed(checked(nil, property.Map{})), []*stages.Decision{step(stages.OpCreate)}))
	s := stages.Settings{Entropy: []byte("update"), Plan: &state.Plan{Resources: preview.Planned()}}
	require.Equal(t, preview.SeedFor(web), newPlans(t, s).SeedFor(web))
	other := urn.New("dev", "p", "", thing, "other")
	require.NotEqual(t, preview.SeedFor(other), newPlans(t, s).SeedFor(other))
	require.NotEqual(t, preview.SeedFor(web), preview.SeedFor(other))
}

func TestAPlanDoesNotDependOnWhatWasDecidedFirst(t *testing.T) {
	var want map[urn.URN]*state.PlannedResource
	for _, reversed := range []bool{false, true} {
		p := newPlans(t, stages.Settings{MakePlan: true})
		other := urn.New("dev", "p", "", thing, "other")
		first, second := diffed(checked(nil, property.Map{})), diffed(checked(nil, property.Map{}))
		second.Seq, second.URN = 2, other
		condemned := &stages.Decision{StepInfo: stages.StepInfo{Op: stages.OpDeleteReplaced, URN: other, Old: &state.Resource{URN: other}}}
		again := step(stages.OpCreateReplacement)
		again.URN = other
		todo := []func() error{
			func() error { return p.Follow(first, []*stages.Decision{condemned, step(stages.OpUpdate)}) },
			func() error { return p.Follow(second, []*stages.Decision{again}) },
		}
		if reversed {
			slices.Reverse(todo)
		}
		for _, f := range todo {
			require.NoError(t, f())
		}
		got := p.Planned()
		require.Equal(t, ops(stages.OpDeleteReplaced, stages.OpCreateReplacement), got[other].Ops)
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
	}
}

func TestAPreviewSaysOfWhichReplacementsItIsNotSure(t *testing.T) {
	for value, uncertain := range map[string]bool{"known": false, "unknown": true} {
		p := newPlans(t, stages.Settings{MakePlan: true})
		inputs := object(values{"a": property.Number(1)})
		if uncertain {
			inputs = object(values{"a": property.Computed()})
		}
		require.NoError(t, p.Follow(diffed(checked(nil, inputs)), []*stages.Decision{step(stages.OpReplace)}))
		require.Equal(t, uncertain, p.Planned()[web].Uncertain, value)
	}
	p := newPlans(t, stages.Settings{MakePlan: true})
	require.NoError(t, p.Follow(diffed(checked(nil, object(values{"a": property.Computed()}))), []*stages.Decision{step(stages.OpCreate)}))
	require.False(t, p.Planned()[web].Uncertain, "a create happens in any case")
}

// The recorded resource may turn out to stay, and then keeps properties that the new object would not have.
func TestInputsThatDependOnAnUncertainReplacementAreUnknown(t *testing.T) {
	old := &state.Resource{URN: web, Inputs: object(values{"kept": property.Number(1), "filled": property.Number(1), "same": property.Number(1), "stable": property.Number(3)})}
	d := diffed(checked(old, object(values{"kept": property.Number(2), "same": property.Number(1)})))
	d.Goal.IgnoreChanges = []string{"kept"}
	d.Accepted = object(values{"kept": property.Number(2), "filled": property.Number(7), "same": property.Number(1), "stable": property.Number(3)})
	got := eitherInputs(d)
	require.True(t, got.At("kept").IsUnknown(), "ignoreChanges keeps it as long as there is something to keep")
	require.True(t, got.At("filled").IsUnknown(), "the provider fills in another value for a new object")
	require.Equal(t, 1.0, got.At("same").AsNumber())
	require.Equal(t, 3.0, got.At("stable").AsNumber(), "the recorded object has the same")
}

func TestARunWithoutAPlanIsHeldToNothing(t *testing.T) {
	p := newPlans(t, stages.Settings{})
	reg := checked(nil, property.Map{})
	require.NoError(t, p.HoldToPlan(&reg))
	require.NoError(t, p.Follow(diffed(reg), []*stages.Decision{step(stages.OpCreate)}))
	require.Nil(t, p.HoldOutputs(step(stages.OpCreate), property.Map{}))
	p.CheckPlanFulfilled()
	require.Empty(t, p.control.Failures())
	require.Nil(t, p.Planned())
}

func TestOutputsAreHeldToThePlanOfTheirResource(t *testing.T) {
	d := step(stages.OpCreate)
	d.Declared = web
	outputs := object(values{"url": property.String("a")})
	p := held(t, &state.PlannedResource{Goal: &state.PlannedGoal{Outputs: state.PlannedDiff{Adds: outputs}}})
	require.Nil(t, p.HoldOutputs(d, outputs))
	require.Contains(t, p.HoldOutputs(d, object(values{"url": property.String("b")})).Rule, "properties changed: ++url[{a}!={b}]")
	d.Declared = urn.New("dev", "p", "", thing, "other")
	require.Contains(t, p.HoldOutputs(d, outputs).Rule, "no plan for resource")
}
