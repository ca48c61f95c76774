package operate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const thing urn.Type = "x:index:Thing"

func named(name string) urn.URN { return urn.New("dev", "p", "", thing, name) }

// step returns a step of a preview. uses are the resources that it refers to.
func step(op stages.Op, name string, uses ...string) stages.StepInfo {
	r := &state.Resource{URN: named(name), Type: thing, Custom: true}
	for _, u := range uses {
		r.Dependencies = append(r.Dependencies, named(u))
	}
	s := stages.StepInfo{Op: op, URN: r.URN, Type: thing, Old: r, New: r}
	switch op {
	case stages.OpCreate, stages.OpImport:
		s.Old = nil
	case stages.OpDelete:
		s.New = nil
	}
	return s
}

func below(s stages.StepInfo, parent string) stages.StepInfo {
	r := *s.New
	r.Parent = named(parent)
	s.New = &r
	if s.Old != nil {
		s.Old = &r
	}
	return s
}

func selected(steps ...stages.StepInfo) *selection { return newSelection(steps, false, false) }

func names(s *selection, list []int) (out []string) {
	for _, i := range list {
		out = append(out, s.parts[i].urn.Name())
	}
	return out
}

// marked returns the indices of parts by their names.
func marked(t *testing.T, s *selection, wanted ...string) (list []int) {
	for _, name := range wanted {
		p := s.at[named(name)]
		require.NotNil(t, p, name)
		list = append(list, p.index)
	}
	return list
}

func TestWhatGoesAlongWithAChoice(t *testing.T) {
	replaced := step(stages.OpCreateReplacement, "follower", "old")
	replaced.Reason.Cause = named("replaced")
	s := selected(
		step(stages.OpSame, "unchanged"),
		step(stages.OpSame, "group"), below(step(stages.OpUpdate, "inner"), "group"), below(step(stages.OpCreate, "fresh"), "group"),
		step(stages.OpCreate, "net"), step(stages.OpCreate, "web", "net", "unchanged"), step(stages.OpUpdate, "front", "web"),
		step(stages.OpReplace, "replaced"), replaced,
		step(stages.OpUpdate, "base"), step(stages.OpDelete, "gone", "base"), step(stages.OpDelete, "leaf", "gone"),
	)
	require.Equal(t, []string{"group", "inner", "fresh", "net", "web", "front", "replaced", "follower", "base", "gone", "leaf"}, names(s, s.excluded(marked(t, s, names(s, indicesOf(s))...))))
	require.Equal(t, 10, s.changes())
	require.Equal(t, []string{"fresh", "net", "web"}, names(s, s.newOnes()))
	for about, c := range map[string]struct{ chosen, included, excluded []string }{
		"a resource alone":        {[]string{"net"}, []string{"net"}, []string{"net", "web", "front"}},
		"what it needs":           {[]string{"web"}, []string{"net", "web"}, []string{"web", "front"}},
		"what a change needs":     {[]string{"front"}, []string{"net", "web", "front"}, []string{"front"}},
		"what is in a component":  {[]string{"group"}, []string{"group", "inner", "fresh"}, []string{"group", "inner", "fresh"}},
		"not its siblings":        {[]string{"inner"}, []string{"inner"}, []string{"inner"}},
		"replacements":            {[]string{"replaced"}, []string{"replaced", "follower"}, []string{"replaced"}},
		"deletes of dependents":   {[]string{"base"}, []string{"base", "gone", "leaf"}, []string{"base"}},
		"deletes of dependencies": {[]string{"leaf"}, []string{"leaf"}, []string{"gone", "leaf"}},
	} {
		t.Run(about, func(t *testing.T) {
			require.Equal(t, c.included, names(s, s.included(marked(t, s, c.chosen...))))
			require.Equal(t, c.excluded, names(s, s.excluded(marked(t, s, c.chosen...))))
		})
	}
	require.Equal(t, []string{string(named("inner"))}, s.urns(marked(t, s, "group", "inner")), "the component itself does not change")
	require.Equal(t, "net", s.name(string(named("net"))))
}

func indicesOf(s *selection) []int { return s.without(nil) }

func TestARenamedResourceIsChosenByBothNames(t *testing.T) {
	renamed := step(stages.OpUpdate, "new")
	renamed.Old = &state.Resource{URN: named("former"), Type: thing, Custom: true}
	provider := step(stages.OpUpdate, "main")
	provider.URN = urn.New("dev", "p", "", "pulumi:providers:x", "main")
	s := selected(provider, renamed)
	require.Equal(t, []string{"new"}, names(s, indicesOf(s)), "a provider is part of every operation")
	require.Equal(t, []string{string(named("new")), string(named("former"))}, s.urns(indicesOf(s)))
}

func TestTwoResourcesWithOneNameAreWrittenInFull(t *testing.T) {
	other := step(stages.OpCreate, "web")
	other.URN = urn.New("dev", "p", "", "x:index:Other", "web")
	s := selected(step(stages.OpCreate, "web"), other, step(stages.OpCreate, "a b"))
	require.Equal(t, "'"+string(named("web"))+"'", s.name(string(named("web"))))
	require.Equal(t, "'"+string(named("a b"))+"'", s.name(string(named("a b"))))
}

func TestANewResourceIsChosenByAPatternIfTargetsAreLookedForBeforeTheProgramRuns(t *testing.T) {
	s := selected(step(stages.OpCreate, "net"), step(stages.OpUpdate, "front"))
	s.early = true
	require.Equal(t, []string{"**" + string(named("net")), string(named("front"))}, s.urns(indicesOf(s)))
	p, err := urn.Compile("**" + string(named("net")))
	require.NoError(t, err)
	require.True(t, p.Match(named("net")))
	require.False(t, p.Match(named("net2")))
}
