package closure_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:T"

var providerURN = urn.New("dev", "p", "", "pulumi:providers:x", "main")

func urnOf(name string) urn.URN { return urn.New("dev", "p", "", thing, name) }

// recorded returns the state of a resource. Each of its properties comes from the resource with the name of the property.
func recorded(name string, from ...string) *state.Resource {
	u := urnOf(name)
	r := &state.Resource{URN: u, Type: thing, Custom: true, ID: name, PropertyDependencies: map[string][]urn.URN{}}
	inputs := map[string]property.Value{"own": property.Number(1)}
	for _, f := range from {
		inputs[f] = property.String(f)
		r.Dependencies = append(r.Dependencies, urnOf(f))
		r.PropertyDependencies[f] = []urn.URN{urnOf(f)}
	}
	r.Inputs = property.NewMap(inputs)
	return r
}

func open(resources ...*state.Resource) (*rooms.Rooms, *rooms.NamesWriter) {
	b, w := rooms.NewRooms(stages.Settings{Info: stages.RunInfo{Stack: "dev", Project: "p"}})
	w.Base.Open(rooms.Recorded{Snapshot: &state.Snapshot{Resources: resources}})
	return b, w.Names
}

// rootOf is the delete-before-replace of the first resource of a base.
func rootOf(b *rooms.Rooms) *closure.Root {
	old := b.Base.Resources[0]
	d := stages.Diffed{}
	d.Seq, d.URN, d.Old, d.Claimed = 1, old.URN, old, old
	c := closure.NewRoot(d, old)
	c.Closure = graph.NewClosure(b.Base.Graph, 0, graph.NotParent, nil)
	return c
}

func TestDependentsGoForTheReasonsThatTheirStatesGive(t *testing.T) {
	root := urnOf("root")
	component := recorded("c", "root")
	component.Custom = false
	read := recorded("r", "root")
	read.External = true
	provided := recorded("p", "other")
	provided.Provider = urn.ProviderRef{URN: providerURN, ID: "1"}.String()
	bound := recorded("b", "root")
	bound.DeletedWith = root

	c := closure.NewRoot(stages.Diffed{}, &state.Resource{URN: root})
	c.Set[providerURN] = true
	for _, x := range []struct {
		name string
		of   *state.Resource
		in   bool
		why  stages.Reason
	}{
		{"a component", component, false, stages.Reason{}},
		{"what is only read", read, false, stages.Reason{}},
		{"what a member provides", provided, true, stages.Reason{Kind: stages.ReasonDependency, Cause: providerURN}},
		{"what is deleted with it", bound, true, stages.Reason{Kind: stages.ReasonDeletedWith, Cause: root}},
		{"what uses something else", recorded("u", "other"), false, stages.Reason{}},
	} {
		t.Run(x.name, func(t *testing.T) {
			in, why, ask := c.NeedsReplace(1, x.of, false)
			require.Nil(t, ask)
			require.Equal(t, x.in, in)
			require.Equal(t, x.why, why)
		})
	}
}

func TestOrderCountsOnRequest(t *testing.T) {
	root := urnOf("root")
	c := closure.NewRoot(stages.Diffed{}, &state.Resource{URN: root})
	ordered := recorded("o")
	ordered.Dependencies = []urn.URN{root}
	in, _, ask := c.NeedsReplace(1, ordered, false)
	require.False(t, in)
	require.Nil(t, ask)
	in, why, _ := c.NeedsReplace(1, ordered, true)
	require.True(t, in)
	require.Equal(t, stages.Reason{Kind: stages.ReasonDependency, Cause: root}, why)
	in, _, ask = c.NeedsReplace(1, recorded("u", "root"), true)
	require.False(t, in, "its provider decides")
	require.NotNil(t, ask)
}

func TestWhatUsesThePropertiesOfARootIsForItsProviderToSay(t *testing.T) {
	c := closure.NewRoot(stages.Diffed{}, &state.Resource{URN: urnOf("root")})
	c.Set[urnOf("also")] = true
	res := recorded("u", "root", "other", "also")
	in, _, ask := c.NeedsReplace(3, res, false)
	require.False(t, in)
	require.NotNil(t, ask)
	require.Equal(t, graph.ID(3), ask.ID)
	require.Same(t, res, ask.Old)
	require.Equal(t, urnOf("also"), ask.Cause, "the first by name, whatever order properties have")
}

func TestARootThatIsRenamedGoesByBothNames(t *testing.T) {
	d := stages.Diffed{}
	d.URN = urnOf("new")
	c := closure.NewRoot(d, &state.Resource{URN: urnOf("old")})
	for _, name := range []string{"old", "new"} {
		_, _, ask := c.NeedsReplace(1, recorded("u", name), false)
		require.NotNil(t, ask, name)
	}
}

// decide decides a closure as build does. next chooses the pending probe that is answered first. goes are the dependents whose
// providers require a replacement.
func decide(b *rooms.Rooms, c *closure.Root, goes map[urn.URN]bool, next func(pending []graph.ID) graph.ID) {
	asked := map[graph.ID]*closure.Probe{}
	for !c.Closure.Done() {
		for _, id := range c.Closure.Ready() {
			in, why, ask := c.NeedsReplace(id, b.Base.Resources[id], false)
			if ask == nil {
				c.Answer(id, b.Base.Resources[id], in, why)
				continue
			}
			asked[id] = ask
		}
		if len(asked) == 0 {
			continue
		}
		id := next(slices.Sorted(maps.Keys(asked)))
		ask := asked[id]
		delete(asked, id)
		c.Answer(ask.ID, ask.Old, goes[ask.Old.URN], stages.Reason{Kind: stages.ReasonDependency, Cause: ask.Cause})
	}
}

func TestMembersDoNotDependOnWhichAnswerIsFirst(t *testing.T) {
	first := func(ids []graph.ID) graph.ID { return ids[0] }
	last := func(ids []graph.ID) graph.ID { return ids[len(ids)-1] }
	middle := func(ids []graph.ID) graph.ID { return ids[len(ids)/2] }
	goes := map[urn.URN]bool{urnOf("a"): true, urnOf("c"): true, urnOf("abc"): true, urnOf("far"): true}
	var want []closure.Member
	for _, next := range []func([]graph.ID) graph.ID{first, last, middle} {
		b, _ := open(
			recorded("root"), recorded("a", "root"), recorded("b", "root"), recorded("c", "root"),
			recorded("abc", "c", "b", "a"), recorded("far", "abc"), recorded("of b", "b"),
		)
		c := rootOf(b)
		decide(b, c, goes, next)
		members := c.Members(b)
		for i := range members {
			members[i].Res = &state.Resource{URN: members[i].Res.URN} // each run has states of its own
		}
		if want == nil {
			want = members
		}
		require.Equal(t, want, members)
	}
	because := map[urn.URN]urn.URN{}
	var order []urn.URN
	for _, m := range want {
		order, because[m.Res.URN] = append(order, m.Res.URN), m.Why.Cause
	}
	require.Equal(t, []urn.URN{urnOf("a"), urnOf("c"), urnOf("abc"), urnOf("far")}, order, "in the order of the base")
	require.Equal(t, map[urn.URN]urn.URN{
		urnOf("a"): urnOf("root"), urnOf("c"): urnOf("root"), urnOf("abc"): urnOf("a"), urnOf("far"): urnOf("abc"),
	}, because)
}

func TestWhatIsReplacedTogetherWithARootGoesAlong(t *testing.T) {
	root := recorded("root")
	together, bound, old := recorded("together"), recorded("bound"), recorded("old copy")
	together.ReplaceWith = []urn.URN{root.URN}
	bound.DeletedWith = root.URN
	old.ReplaceWith, old.Delete = []urn.URN{root.URN}, true
	b, _ := open(root, together, bound, old)
	d := stages.Diffed{}
	d.Seq, d.URN, d.Claimed = 1, root.URN, root
	c := closure.NewRoot(d, root)
	why := map[*state.Resource]stages.ReasonKind{}
	for _, m := range c.Members(b) {
		why[m.Res] = m.Why.Kind
	}
	require.Equal(t, map[*state.Resource]stages.ReasonKind{together: stages.ReasonReplaceWith, bound: stages.ReasonDeletedWith}, why)
}

// A resource that registered before a root is decided and stays; one that registers later is made again.
func TestOnlyRegistrationsBeforeTheRootPrecedeIt(t *testing.T) {
	early, root, late := recorded("early"), recorded("root"), recorded("late")
	early.ReplaceWith, late.ReplaceWith = []urn.URN{root.URN}, []urn.URN{root.URN}
	b, names := open(early, root, late)
	seqs := map[string]int{}
	for _, name := range []string{"early", "root", "late"} {
		l, _, err := names.Locate(stages.Registered{Goal: &stages.Goal{Type: thing, Name: name, Custom: true}})
		require.NoError(t, err)
		seqs[name] = l.Seq
	}
	d := stages.Diffed{}
	d.Seq, d.URN, d.Claimed = seqs["root"], root.URN, root
	c := closure.NewRoot(d, root)
	require.True(t, c.IsPrecededBy(b, early))
	require.False(t, c.IsPrecededBy(b, late))
	require.False(t, c.IsPrecededBy(b, recorded("undeclared")))
	members := c.Members(b)
	require.Len(t, members, 1)
	require.Same(t, late, members[0].Res)
}

func TestTasksOfAScheduleHaveConsecutiveIDs(t *testing.T) {
	require.Equal(t, stages.Task{ID: 12}, closure.TaskOf(graph.Scheduled{Node: 5}, 10, 2))
	require.Equal(t, stages.Task{ID: 13, After: []graph.ID{10, 12}}, closure.TaskOf(graph.Scheduled{Node: 4, After: []graph.ID{0, 2}}, 10, 3))
}

func TestAProbeAsksAboutTheRecordedStateWithoutWhatIsReplaced(t *testing.T) {
	provider := &state.Resource{URN: providerURN, Type: providerURN.Type(), Custom: true, ID: "1"}
	user := recorded("user", "root")
	user.Provider = urn.ProviderRef{URN: providerURN, ID: "1"}.String()
	user.IgnoreChanges, user.ReplaceOnChanges = []string{"ignored"}, []string{"root"}
	b, _ := open(provider, recorded("root"), user)

	var asked providers.DiffRequest
	fake := providertest.NewFake("x")
	fake.OnDiff = func(_ context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
		asked = req
		return providers.DiffResponse{Changes: providers.DiffSome, ChangedKeys: []string{"root"}}, nil
	}
	fake.OnConfigure = func(context.Context, providers.ConfigureRequest) error { return nil }
	host := providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) { return fake, nil })
	registry := providers.NewRegistry(t.Context(), host, providers.RegistryOptions{})
	defer func() { require.NoError(t, registry.Close()) }()
	ctl := control.NewControl(t.Context(), stages.RunInfo{}, time.Now, nil)
	prober := &closure.Prober{Rooms: b, Access: &access.Access{
		Control: ctl, Rooms: b, Registry: registry, Extensions: access.NewExtensions(nil),
	}}

	c := closure.NewRoot(stages.Diffed{}, b.Base.Resources[1])
	_, _, ask := c.NeedsReplace(2, user, false)
	answer, err := prober.CallProbe(t.Context(), ask)
	require.NoError(t, err)
	require.True(t, answer.Replaces(), "replaceOnChanges of the recorded state counts")
	require.True(t, asked.NewInputs.At("root").IsUnknown())
	require.Equal(t, 1.0, asked.NewInputs.At("own").AsNumber())
	require.True(t, asked.AllowUnknowns)
	require.Equal(t, []string{"ignored"}, asked.IgnoreChanges)
	require.Equal(t, "root", user.Inputs.At("root").AsString(), "the recorded state is immutable")
}
