package rooms_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:T"

func urnOf(name string) urn.URN { return urn.New("dev", "p", "", thing, name) }

func recorded(name string, needs ...string) *state.Resource {
	r := &state.Resource{URN: urnOf(name), Type: thing, Custom: true, ID: name}
	for _, n := range needs {
		r.Dependencies = append(r.Dependencies, urnOf(n))
	}
	return r
}

func open(s stages.Settings, resources ...*state.Resource) (*rooms.Rooms, rooms.Writers) {
	s.Info = stages.RunInfo{Stack: "dev", Project: "p"}
	b, w := rooms.NewRooms(s)
	w.Base.Open(rooms.Recorded{Snapshot: &state.Snapshot{Resources: resources}})
	return b, w
}

func registered(name string, aliases ...string) stages.Registered {
	g := &stages.Goal{Type: thing, Name: name, Custom: true}
	for _, a := range aliases {
		g.Aliases = append(g.Aliases, urn.Alias{Name: a})
	}
	return stages.Registered{Goal: g}
}

// locate locates a registration, which must succeed.
func locate(t *testing.T, w rooms.Writers, r stages.Registered) stages.Located {
	t.Helper()
	l, _, err := w.Names.Locate(r)
	require.NoError(t, err)
	return l
}

func TestABookIsOpenedOnce(t *testing.T) {
	b, w := open(stages.Settings{})
	require.True(t, b.IsOpen())
	require.Panics(t, func() { w.Base.Open(rooms.Recorded{Snapshot: &state.Snapshot{}}) })
}

func TestRegistrationsAreNumberedInOrderOfArrival(t *testing.T) {
	_, w := open(stages.Settings{})
	require.Equal(t, 1, locate(t, w, registered("a")).Seq)
	refused, _, err := w.Names.Locate(registered("a"))
	require.Error(t, err)
	require.Equal(t, 2, refused.Seq)
	require.Equal(t, 3, locate(t, w, registered("b")).Seq)
}

func TestARegistrationGoesOnWithTheRecordedStateOfItsName(t *testing.T) {
	old, copied := recorded("web"), recorded("web")
	copied.Delete = true
	b, w := open(stages.Settings{}, old, copied)
	l := locate(t, w, registered("web"))
	require.Same(t, old, l.Old)
	require.Same(t, old, l.Claimed)
	seq, ok := b.Names.Claimant(old)
	require.True(t, ok)
	require.Equal(t, l.Seq, seq)
	_, ok = b.Names.Claimant(copied)
	require.False(t, ok, "nothing goes on with what awaits its deletion")
}

func TestAnAliasLeadsToARecordedStateOnlyUnderItsFormerName(t *testing.T) {
	old := recorded("site")
	b, w := open(stages.Settings{}, old)
	l := locate(t, w, registered("web", "nobody", "site"))
	require.Same(t, old, l.Old)
	require.Equal(t, urnOf("site"), l.Alias)
	require.Equal(t, urnOf("web"), b.Names.NewNameOf(urnOf("site")))
	require.Equal(t, urnOf("other"), b.Names.NewNameOf(urnOf("other")))

	own := recorded("web")
	_, w = open(stages.Settings{}, old, own)
	l = locate(t, w, registered("web", "site"))
	require.Same(t, own, l.Old, "the own name goes before aliases")
	require.Empty(t, l.Alias)
}

func TestANameBelongsToTheFirstWhoTakesIt(t *testing.T) {
	for name, c := range map[string]struct {
		first, second stages.Registered
		code          int
	}{
		"twice":             {registered("web"), registered("web"), stages.CodeDuplicateURN},
		"an alias twice":    {registered("a", "site"), registered("b", "site"), stages.CodeDuplicateAlias},
		"an alias, a name":  {registered("a", "site"), registered("site"), stages.CodeURNIsAlias},
		"a name, its alias": {registered("site"), registered("b", "site"), stages.CodeDuplicateAlias},
	} {
		t.Run(name, func(t *testing.T) {
			_, w := open(stages.Settings{}, recorded("site"))
			locate(t, w, c.first)
			_, code, err := w.Names.Locate(c.second)
			require.Error(t, err)
			require.Equal(t, c.code, code)
		})
	}
}

func TestAParentIsRegisteredBeforeItsChildren(t *testing.T) {
	_, w := open(stages.Settings{})
	child := registered("child")
	child.Goal.Parent = urnOf("parent")
	_, _, err := w.Names.Locate(child)
	require.ErrorContains(t, err, "could not find parent resource")
	locate(t, w, registered("parent"))
	l := locate(t, w, child)
	require.Equal(t, urnOf("parent").Child(thing, "child"), l.URN)
}

func TestAViewHasAURNToItself(t *testing.T) {
	_, w := open(stages.Settings{})
	view := urnOf("owner").Child("x:index:View", "v")
	require.NoError(t, w.Steps.ViewNames.Claim(view, urnOf("owner")))
	require.NoError(t, w.Steps.ViewNames.Claim(view, urnOf("owner")), "it may be published again")
	require.ErrorContains(t, w.Steps.ViewNames.Claim(view, urnOf("another")), "is a view of")
	locate(t, w, registered("web"))
	require.ErrorContains(t, w.Steps.ViewNames.Claim(urnOf("web"), urnOf("owner")), "is a resource of the program")
}

func TestAForbiddenMoveOfAFatePanics(t *testing.T) {
	b, w := open(stages.Settings{})
	r := w.Steps.Outcomes
	d := &stages.Decision{StepInfo: stages.StepInfo{Op: stages.OpCreate, URN: urnOf("web")}}
	r.Expect(d)
	require.Equal(t, stages.FateNotReached, b.Outcomes.Of(d).Fate)
	r.Begin(d)
	r.Expect(d)
	require.Equal(t, stages.FateBegun, b.Outcomes.Of(d).Fate, "a decision is noted once")
	require.Panics(t, func() { r.End(d, stages.Outcome{Fate: stages.FateSkipped}) })
	r.End(d, stages.Outcome{Fate: stages.FateDone})
	require.PanicsWithValue(t, "create of "+string(urnOf("web"))+` was "" and cannot become "failed"`, func() {
		r.End(d, stages.Outcome{Fate: stages.FateFailed})
	})
	require.Equal(t, stages.FateDone, b.Outcomes.Of(d).Fate)
}

func TestDecisionsAreListedByRankWhateverWasNotedFirst(t *testing.T) {
	b, w := open(stages.Settings{})
	step := func(name string, rank stages.Rank) *stages.Decision {
		return &stages.Decision{StepInfo: stages.StepInfo{Op: stages.OpCreate, URN: urnOf(name)}, Rank: rank}
	}
	w.Decisions.Note(step("last", stages.Rank{Seq: stages.EndPhaseSeq}), step("second", stages.Rank{Seq: 1, Place: 1}))
	w.Decisions.Note(step("third", stages.Rank{Seq: 2}), step("first", stages.Rank{Seq: 1}))
	var names []string
	for _, d := range rooms.Summarize(b).Decided() {
		names = append(names, d.URN.Name())
	}
	require.Equal(t, []string{"first", "second", "third", "last"}, names)
}

func TestWhatIsKeptForOthersStandsUnlessARegistrationGoesOnWithIt(t *testing.T) {
	kept, claimed := recorded("kept"), recorded("claimed")
	b, w := open(stages.Settings{}, kept, claimed)
	for _, res := range []*state.Resource{kept, claimed} {
		d := stages.CarriedForwardStep(res)
		d.Kind = stages.Provisional
		w.Decisions.Note(d)
		w.Decisions.Use(res, urnOf("user b"))
		w.Decisions.Use(res, urnOf("user a"))
	}
	locate(t, w, registered("claimed"))
	decided := rooms.Summarize(b).Decided()
	require.Len(t, decided, 1)
	require.Equal(t, kept.URN, decided[0].URN)
	require.Equal(t, stages.Reason{Kind: stages.ReasonCarriedForward, Cause: urnOf("user a")}, decided[0].Reason, "the first by name")
}

func TestAReadCountsWhateverWasKeptOfItsResource(t *testing.T) {
	for name, order := range map[string][]string{"read first": {"read", "kept"}, "kept first": {"kept", "read"}} {
		for of, external := range map[string]bool{"external": true, "managed": false} {
			t.Run(name+", "+of, func(t *testing.T) {
				old := recorded("web")
				old.External = external
				b, w := open(stages.Settings{}, old)
				now := old.Clone()
				now.ID, now.External = "other", true
				kept := stages.CarriedForwardStep(old)
				kept.Kind = stages.Provisional
				for _, what := range order {
					if what == "kept" {
						w.Steps.Results.Keep(kept, old)
					} else {
						w.Steps.Results.Keep(&stages.Decision{StepInfo: stages.StepInfo{Op: stages.OpRead, URN: now.URN}}, now)
					}
				}
				got, ok := b.Results.Lookup(old.URN)
				require.True(t, ok)
				require.Same(t, now, got)
				require.Nil(t, b.Results.Made(old.URN), "no registration has made it")
				require.Empty(t, b.FinalStates())
			})
		}
	}
}

func TestExternalResourcesThatAreKeptAreNotAmongTheManagedOnes(t *testing.T) {
	old, managed := recorded("web"), recorded("app")
	old.External = true
	b, w := open(stages.Settings{}, old, managed)
	for _, res := range []*state.Resource{old, managed} {
		kept := stages.CarriedForwardStep(res)
		kept.Kind = stages.Provisional
		w.Steps.Results.Keep(kept, res)
	}
	require.Equal(t, []*state.Resource{managed}, b.FinalStates())
	got, _ := b.Results.Lookup(old.URN)
	require.Same(t, old, got)
}

func TestAMilestoneLetsEverybodyGoOnWhoWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w := open(stages.Settings{})
		p := b.Progress
		over := 0
		var wg conc.WaitGroup
		wg.Go(func() {
			require.NoError(t, p.Await(context.Background(), 7, rooms.Over))
			over++
		})
		synctest.Wait()
		w.Decided.Pass(7)
		w.Over.Pass(8)
		synctest.Wait()
		require.Zero(t, over)
		w.Over.Pass(7)
		wg.Wait()
		w.Over.Pass(7)
		require.NoError(t, p.Await(context.Background(), 7, rooms.Over))
	})
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stages.ErrShutDown)
	b, _ := open(stages.Settings{})
	require.ErrorIs(t, b.Progress.Await(ctx, 1, rooms.Decided), stages.ErrShutDown)
}

func TestAStateIsFollowedThroughAllThatBecomesOfIt(t *testing.T) {
	old := recorded("web")
	b, w := open(stages.Settings{}, old)
	require.Same(t, old, b.Results.Current(old))
	waiting, marked := old.Clone(), old.Clone()
	w.Steps.Results.Apply(state.Change{Replace: []state.Replacement{{Old: old, New: waiting}}})
	w.Steps.Results.Apply(state.Change{Replace: []state.Replacement{{Old: waiting, New: marked}}})
	require.Same(t, marked, b.Results.Current(old))
	w.Steps.Results.Apply(state.Change{Remove: []*state.Resource{marked}})
	require.Nil(t, b.Results.Current(old))
	require.Empty(t, b.Present(old))
}

func TestTheFirstCauseOfAFailureIsKept(t *testing.T) {
	b, w := open(stages.Settings{ContinueOnError: true})
	w.Steps.Results.MarkFailed(urnOf("web"), urnOf("db"))
	w.Steps.Results.MarkFailed(urnOf("web"), urnOf("web"))
	cause, ok := b.Failures.Of(urnOf("web"))
	require.True(t, ok)
	require.Equal(t, urnOf("db"), cause)
}

func TestOutputsMayBeRegisteredOnce(t *testing.T) {
	_, w := open(stages.Settings{})
	d := &stages.Decision{StepInfo: stages.StepInfo{URN: urnOf("c")}, Answers: true}
	w.Steps.Outputs.Open(d)
	got, ok := w.Outputs.Take(urnOf("c"))
	require.True(t, ok)
	require.Same(t, d, got)
	_, ok = w.Outputs.Take(urnOf("c"))
	require.False(t, ok)
}

func TestTheEndIsAboutTheBaseWhereTheProgramDeclaresNothing(t *testing.T) {
	b, _ := open(stages.Settings{Mode: stages.ModeDestroy}, recorded("a"), recorded("b", "a"))
	end := rooms.Remains(b)
	require.Empty(t, end.Declared)
	require.Equal(t, b.Base.Resources, end.Base.Resources)
	require.Equal(t, []graph.ID{1}, end.Named(map[urn.URN]bool{urnOf("b"): true}))
}

// The program's order takes precedence: its resources come in the order in which they are declared, after those that they refer to.
func TestTheEndPutsWhatIsDeclaredAfterWhatItRefersTo(t *testing.T) {
	oldA, oldB, left := recorded("a"), recorded("b", "a"), recorded("left", "b")
	b, w := open(stages.Settings{Mode: stages.ModeDestroy}, oldA, oldB, left)
	made := map[string]*state.Resource{"a": recorded("a", "b"), "b": recorded("b")} // the dependency has been reversed
	for seq, name := range []string{"b", "a"} {
		d := &stages.Decision{StepInfo: stages.StepInfo{Op: stages.OpUpdate, URN: urnOf(name), New: made[name]}, Rank: stages.Rank{Seq: seq + 1}}
		w.Decisions.NoteDeclared(d)
		w.Steps.Outcomes.Begin(d)
		w.Steps.Outcomes.End(d, stages.Outcome{Fate: stages.FateDone, Made: made[name]})
	}
	w.Steps.Results.Apply(state.Change{Remove: []*state.Resource{oldA, oldB}})
	end := rooms.Remains(b)
	at := map[*state.Resource]graph.ID{}
	for i, res := range end.Base.Resources {
		at[res] = graph.ID(i)
	}
	require.Less(t, at[made["b"]], at[made["a"]])
	require.Less(t, at[made["b"]], at[left])
	require.True(t, end.Declared[at[made["a"]]] && end.Declared[at[made["b"]]])
	require.False(t, end.Declared[at[left]])
}

func TestWhatProtectedResourcesNeedStaysWithThem(t *testing.T) {
	protected := recorded("protected", "needed")
	protected.Protect = true
	require.Equal(t, []urn.URN{urnOf("far"), urnOf("needed"), urnOf("protected")}, rooms.ProtectedAndNeeded([]*state.Resource{
		recorded("far"), recorded("needed", "far"), protected, recorded("user", "protected"), recorded("other"),
	}))
}
