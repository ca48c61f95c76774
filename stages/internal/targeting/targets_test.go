package targeting_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/stages/internal/targeting"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:T"

func urnOf(name string) urn.URN { return urn.New("dev", "p", "", thing, name) }

func set(t *testing.T, patterns ...string) *urn.PatternSet {
	t.Helper()
	s, err := urn.CompileSet(patterns...)
	require.NoError(t, err)
	return s
}

// targets returns the targets of a run in which "web" is recorded, and the diagnostics that it shows.
func targets(t *testing.T, sel stages.Targeting, preview bool) (*targeting.Targets, rooms.Writers, *[]stages.Diagnostic) {
	t.Helper()
	var told []stages.Diagnostic
	info := stages.RunInfo{Stack: "dev", Project: "p", DryRun: preview}
	web := &state.Resource{URN: urnOf("web"), Type: thing, Custom: true, ID: "1"}
	c := control.NewControl(t.Context(), info, time.Now, func(e stages.Event) { told = append(told, e.(stages.Diagnostic)) })
	b, w := rooms.NewRooms(stages.Settings{Info: info, Targeting: sel})
	w.Base.Open(rooms.Recorded{Snapshot: &state.Snapshot{Resources: []*state.Resource{web}}})
	return &targeting.Targets{Control: c, Rooms: b}, w, &told
}

func TestTargetsThatNameSomethingAreKnown(t *testing.T) {
	r, w, told := targets(t, stages.Targeting{}, false)
	_, _, err := w.Names.Locate(stages.Registered{Goal: &stages.Goal{Type: thing, Name: "new", Custom: true}})
	require.NoError(t, err)
	require.NoError(t, r.UnknownTargets(set(t, string(urnOf("web")), string(urnOf("new")), "**no such thing**")))
	require.NoError(t, r.UnknownTargets(nil))
	require.Empty(t, *told)
	require.False(t, r.Control.HasFailed())
}

func TestEachUnknownTargetIsShownAndTheRunFailsOnce(t *testing.T) {
	r, _, told := targets(t, stages.Targeting{}, false)
	err := r.UnknownTargets(set(t, string(urnOf("one")), string(urnOf("web")), string(urnOf("two"))))
	require.True(t, stages.IsReported(err))
	require.Len(t, *told, 2)
	require.Len(t, r.Control.Failures(), 1)
	require.False(t, r.Control.IsHalted(), "its caller decides when to stop")
}

func TestAnUnknownTargetWithoutADollarMayHaveLostItInTheShell(t *testing.T) {
	r, _, told := targets(t, stages.Targeting{}, false)
	parent := urn.New("dev", "p", "", "my:C", "c")
	require.Error(t, r.UnknownTargets(set(t, string(parent.Child(thing, "gone")), string(urnOf("gone")))))
	codes := map[int]string{}
	for _, d := range *told {
		codes[d.Code] = d.Message
	}
	require.Contains(t, codes[stages.CodeTargetNotFound], parent.Child(thing, "gone"))
	require.NotContains(t, codes[stages.CodeTargetNotFound], "escape $")
	require.Contains(t, codes[stages.CodeTargetNotFoundEscape], "'"+string(urnOf("gone"))+"'")
	require.Contains(t, codes[stages.CodeTargetNotFoundEscape], "escape $")
}

func TestAnUnknownTargetNamesWhatMayBeMeant(t *testing.T) {
	r, _, told := targets(t, stages.Targeting{}, false)
	require.Error(t, r.UnknownTargets(set(t, string(urnOf("wep")))))
	require.Contains(t, (*told)[0].Message, "Did you mean\n  "+urnOf("web").ShellQuoted())
	require.Error(t, r.UnknownTargets(set(t, "database-of-another-project")))
	require.Equal(t, []advice.Advice{advice.On(advice.ListResources)}, (*told)[1].Advice)
}

func TestUnknownTargetsOfOperationsWithoutAProgramStopTheRun(t *testing.T) {
	gone := set(t, string(urnOf("gone")))
	for name, sel := range map[string]stages.Targeting{"targets": {Targets: gone}, "excludes": {Excludes: gone}} {
		r, _, _ := targets(t, sel, false)
		require.Error(t, r.CheckTargets(), name)
		require.True(t, r.Control.IsHalted(), name)
	}
	r, _, _ := targets(t, stages.Targeting{Replace: gone}, false)
	require.NoError(t, r.CheckTargets())
	require.Error(t, r.CheckReplaceTargets())
	require.True(t, r.Control.IsHalted())
}

// user is a step whose resource depends on "db", which is not created because it is not part of the operation.
func user(w rooms.Writers) *stages.Decision {
	w.Decisions.LeaveUncreated(&state.Resource{URN: urnOf("net")})
	w.Decisions.LeaveUncreated(&state.Resource{URN: urnOf("db"), Dependencies: []urn.URN{urnOf("net")}})
	return &stages.Decision{StepInfo: stages.StepInfo{
		Op: stages.OpCreate, URN: urnOf("app"), New: &state.Resource{URN: urnOf("app"), Dependencies: []urn.URN{urnOf("db")}},
	}}
}

func TestAnUpdateIsRefusedThatWouldReferToWhatIsNotCreated(t *testing.T) {
	for name, sel := range map[string]stages.Targeting{
		"targets": {Targets: set(t, string(urnOf("app")))}, "excludes": {Excludes: set(t, string(urnOf("db")))},
	} {
		r, w, told := targets(t, sel, false)
		err := r.Uncreated(stages.Located{Seq: 3, URN: urnOf("app")}, []*stages.Decision{user(w)})
		require.True(t, stages.IsReported(err), name)
		require.True(t, r.Control.IsHalted(), name)
		require.Len(t, *told, 1, name)
		require.Contains(t, (*told)[0].Message, urnOf("db"), name)
	}
}

func TestARefusalNamesEverythingThatWouldHaveToBeATarget(t *testing.T) {
	r, w, told := targets(t, stages.Targeting{Targets: set(t, string(urnOf("app")))}, false)
	require.Error(t, r.Uncreated(stages.Located{URN: urnOf("app")}, []*stages.Decision{user(w)}))
	require.Equal(t, stages.CodeUntargetedCreate, (*told)[0].Code)
	require.Equal(t, []advice.Advice{advice.On(advice.TargetNeeded, urnOf("db"), urnOf("net"))}, (*told)[0].Advice)
}

// Resources to be replaced are targets, too.
func TestExcludesBesideReplacementsAreTargets(t *testing.T) {
	r, w, told := targets(t, stages.Targeting{Replace: set(t, string(urnOf("app"))), Excludes: set(t, string(urnOf("db")))}, false)
	require.Error(t, r.Uncreated(stages.Located{URN: urnOf("app")}, []*stages.Decision{user(w)}))
	require.Equal(t, stages.CodeUntargetedCreate, (*told)[0].Code)
}

func TestAPreviewNamesEachResourceOnceAndGoesOn(t *testing.T) {
	r, w, told := targets(t, stages.Targeting{Targets: set(t, string(urnOf("app")))}, true)
	d := user(w)
	replace := *d
	replace.Op = stages.OpReplace
	require.NoError(t, r.Uncreated(stages.Located{Seq: 3, URN: urnOf("app")}, []*stages.Decision{&replace, d}))
	require.Len(t, *told, 1)
	require.Len(t, r.Control.Failures(), 1)
	require.False(t, r.Control.IsHalted())
}

func TestThePreviewOfExcludesOnlyWarns(t *testing.T) {
	r, w, told := targets(t, stages.Targeting{Excludes: set(t, string(urnOf("db")))}, true)
	require.NoError(t, r.Uncreated(stages.Located{URN: urnOf("app")}, []*stages.Decision{user(w)}))
	require.Len(t, *told, 1)
	require.Equal(t, stages.Warning, (*told)[0].Severity)
	require.False(t, r.Control.HasFailed())
}

func TestWhatIsNotCreatedItselfMayReferToIt(t *testing.T) {
	r, w, told := targets(t, stages.Targeting{Targets: set(t, string(urnOf("app")))}, false)
	d := user(w)
	d.Kind = stages.Uncreated
	require.NoError(t, r.Uncreated(stages.Located{URN: urnOf("app")}, []*stages.Decision{d}))
	require.Empty(t, *told)
}

func TestAnOperationOnEverythingLeavesNothingUncreated(t *testing.T) {
	r, w, told := targets(t, stages.Targeting{}, false)
	require.NoError(t, r.Uncreated(stages.Located{URN: urnOf("app")}, []*stages.Decision{user(w)}))
	require.Empty(t, *told)
}
