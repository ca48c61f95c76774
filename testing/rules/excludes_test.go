package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestExcludesAreLeftWithTheirDependents(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Excludes = set(t, "**::a")
	k.options.Targeting.ExcludeDependents = true
	require.Equal(t, []string{"update c"}, k.up(program(three(2))).changed())
	require.Equal(t, []string{"delete c"}, k.destroy().changed())
}

func TestAnUpdateThatExcludesDependentsDeletesNothingThatIsConnectedWithThem(t *testing.T) {
	for name, dependents := range map[string]bool{"with dependents": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				_, other := s.provider("other", nil)
				s.thing("excluded", nil)
				s.thing("by the same provider", nil)
				s.thing("alone", nil, via(other))
				s.thing("replaced", in{"immutable": 1})
			}))
			k.options.Targeting.Excludes = set(t, "**::excluded")
			k.options.Targeting.ExcludeDependents = dependents
			p := program(func(s *script) {
				s.thing("excluded", nil)
				s.thing("replaced", in{"immutable": 2})
			})
			k.up(p)
			left := []string{"excluded", "by the same provider", "replaced", "replaced (delete)"}
			if !dependents {
				left = []string{"excluded", "replaced"}
			}
			require.ElementsMatch(t, left, k.names())
			k.options.Targeting.Excludes = nil
			k.up(p)
			require.ElementsMatch(t, []string{"excluded", "replaced"}, k.names())
		})
	}
}

func TestExcludedResourcesStayAsTheyAreOrAbsent(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
	k.options.Targeting.Excludes = set(t, "**::a", "**::n")
	p := program(func(s *script) {
		s.thing("a", in{"size": 2})
		n := s.thing("n", nil)
		require.True(t, n.Unknown)
		s.thing("b", in{"size": 2})
	})
	out := k.up(p)
	require.Equal(t, []string{"create b"}, out.changed())
	require.Equal(t, []string{"a", "b"}, k.names())
	require.Equal(t, property.Number(1), k.recorded("a").Inputs.At("size"))
}

// Decision 0167. What is replaced although it is excluded is named.
func TestAnExcludedResourceThatGoesAlongIsNamed(t *testing.T) {
	k := newKit(t)
	p := func(v int) source.Func {
		return program(func(s *script) {
			s.thing("b", nil, from("immutableOf", s.thing("a", in{"immutable": v}, deleteFirst(true))))
		})
	}
	k.up(p(1))
	k.options.Targeting.Excludes = set(t, "b*")
	r := k.up(p(2))
	require.Equal(t, []string{"delete b", "delete a", "create a", "create b"}, r.changed())
	r.requireDiagnostic(stages.Warning, 0, "it is excluded, but goes along with "+string(urnOf("a")))
	require.Len(t, r.diagnostics(stages.Warning), 1)
}

// A destroy that runs the program leaves a renamed resource under its recorded name (steps.md 6.7).
func TestAnExcludedResourceThatIsRenamedStays(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", nil, dependsOn(s.group("a"))) }))
	k.options.Targeting.Excludes = set(t, "**::new")
	k.options.RunProgram = true
	out := k.try(sluice.Destroy, program(func(s *script) { s.group("new", alias(urn.Alias{Name: "a"})) }))
	require.NoError(t, out.err)
	require.Equal(t, []string{"a"}, k.names())
}

func TestWhatDependsOnAnExcludedResourceIsDoneWithoutTheFlag(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Excludes = set(t, string(urnOf("a")))
	require.Equal(t, []string{"update b", "update c"}, k.up(program(three(2))).changed())
	require.Equal(t, property.Number(1), k.recorded("a").Inputs.At("size"))
	k.options.Targeting.ExcludeDependents = true
	require.Equal(t, []string{"update c"}, k.up(program(three(3))).changed())
}

func TestExcludesOfADestroyKeepWhatTheyNeed(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		_, ref := s.provider("mine", nil)
		g := s.group("g")
		a := s.thing("a", nil, via(ref), parent(g))
		s.thing("b", nil, dependsOn(a))
		s.thing("c", nil, dependsOn(a))
	}))
	k.options.Targeting.Excludes = set(t, "**::b")
	require.Equal(t, []string{"delete c"}, k.destroy().changed())
	require.Equal(t, []string{"mine", "g", "a", "b"}, k.names())
}

func TestExcludesKeepTheComponentsThatTheyNeedWithWhatIsInThem(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		g := s.group("g")
		s.thing("in it", nil, parent(s.group("inner", parent(g))))
		excluded := s.thing("excluded", nil, dependsOn(g))
		s.thing("in it later", nil, parent(g), dependsOn(excluded))
	}))
	k.options.Targeting.Excludes = set(t, "**::excluded")
	require.Equal(t, []string{"delete in it later"}, k.destroy().changed())
	require.Equal(t, []string{"g", "inner", "in it", "excluded"}, k.names())
}

func TestProvidersOfWhatIsNotExcludedAreMade(t *testing.T) {
	declare := func(size int) source.Func {
		return program(func(s *script) {
			_, ref := s.provider("mine", in{"region": "here"})
			s.thing("a", in{"size": size}, via(ref))
			s.thing("b", in{"size": size})
		})
	}
	for name, excludes := range map[string]string{"its resource": "**::a", "the provider itself": "**::mine", "all providers": "**pulumi:providers:**"} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.options.Targeting.Excludes = set(t, excludes)
			k.up(declare(1))
			want := []string{"mine", "a", "b"}
			if name == "its resource" {
				want = []string{"mine", "b"}
			}
			require.Equal(t, want, k.names())
		})
	}
}

func TestExcludedResourcesAreNotRefreshed(t *testing.T) {
	for name, byProgram := range map[string]bool{"plain": false, "by the program": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(three(1)))
			k.options.RunProgram = byProgram
			k.options.Targeting.Excludes = set(t, "**::a")
			out := k.try(sluice.Refresh, program(three(1)))
			require.NoError(t, out.err)
			require.NotContains(t, out.did(), "read a")
			require.Contains(t, out.did(), "read b")
			k.options.Targeting.ExcludeDependents = true
			out = k.try(sluice.Refresh, program(three(1)))
			require.NoError(t, out.err)
			require.NotContains(t, out.did(), "read b")
			require.Contains(t, out.did(), "read c")
		})
	}
}

func TestUnknownExcludeIsRefusedWhereNoProgramCouldDeclareIt(t *testing.T) {
	k := newKit(t)
	k.up(program(three(1)))
	k.options.Targeting.Excludes = set(t, string(urnOf("nobody")))
	for _, op := range []operation{sluice.Destroy, sluice.Refresh} {
		out := k.try(op, nil)
		out.requireFailure("one or more targets could not be found")
		require.Empty(t, out.did())
	}
	require.Equal(t, []string{"a", "b", "c"}, k.names())
	require.Equal(t, []string{"update a", "update b", "update c"}, k.up(program(three(2))).changed())
}

func TestAReplacementThatIsLeftOutIsNamed(t *testing.T) {
	for name, leaveOut := range map[string]func(o *sluice.Options){
		"excluded":     func(o *sluice.Options) { o.Targeting.Excludes = set(t, "a") },
		"not a target": func(o *sluice.Options) { o.Targeting.Targets = set(t, "b") },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := program(func(s *script) { s.thing("a", nil); s.thing("b", nil) })
			k.up(p)
			k.options.Targeting.Replace = set(t, "a")
			leaveOut(&k.options)
			r := k.up(p)
			require.Empty(t, r.changed())
			r.requireDiagnostic(stages.Warning, 0, "it is to be replaced, but stays as it is")
		})
	}
}
