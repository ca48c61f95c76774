package rules

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// In each case the program registers "a" with a failure, and afterwards neither "undeclared" nor the resource that it read as "seen",
// though it ends without an error. Decision 0165.
func TestWhatIsNotDeclaredAfterAFailureIsKept(t *testing.T) {
	type attempt struct {
		failures []providertest.Failure
		before   func(*kit)
		after    func(*script)
	}
	update := providertest.Failure{Method: providers.MethodUpdate, Name: "a", Update: true}
	change := func(s *script) { s.thing("a", in{"x": 2}) }
	for name, c := range map[string]attempt{
		"an update":               {[]providertest.Failure{update}, nil, change},
		"an update, not answered": {[]providertest.Failure{update}, nil, func(s *script) { withoutResults(s, "a", in{"x": 2}) }},
		"a create":                {[]providertest.Failure{failCreate("fresh", errRefused)}, nil, func(s *script) { s.thing("a", in{"x": 1}); s.thing("fresh", nil) }},
		"a replacement": {
			[]providertest.Failure{{Method: providers.MethodCreate, Name: "a", Nth: 2}}, nil, func(s *script) { s.thing("a", in{"x": 1, "immutable": 1}) },
		},
		"a replacement that deletes first": {
			[]providertest.Failure{{Method: providers.MethodCreate, Name: "a", Nth: 2}}, nil, func(s *script) { s.thing("a", in{"x": 1, "dbr": 1}) },
		},
		"the delete of such a replacement": {
			[]providertest.Failure{{Method: providers.MethodDelete, Name: "a"}}, nil, func(s *script) { s.thing("a", in{"x": 1, "dbr": 1}) },
		},
		"a resource that does not become healthy": {nil, nil, func(s *script) { s.thing("a", in{"x": 1, "unhealthy": true}) }},
		"a read":    {nil, nil, func(s *script) { s.thing("a", in{"x": 1}); s.read("other", "nowhere") }},
		"an import": {nil, nil, func(s *script) { s.thing("a", in{"x": 1}); s.thing("i", nil, imports("nowhere")) }},
		"a hook before": {nil, nil, func(s *script) {
			s.err = s.m.RegisterHook(s.ctx, failingHook)
			s.thing("a", in{"x": 2}, hooks("BeforeUpdate", "h"))
		}},
		"a hook after": {nil, nil, func(s *script) {
			s.err = s.m.RegisterHook(s.ctx, failingHook)
			s.thing("a", in{"x": 2}, hooks("AfterUpdate", "h"))
		}},
		"a target besides": {[]providertest.Failure{update}, func(k *kit) {
			k.options.Targeting.Targets = set(k.t, string(urnOf("a")), string(urnOf("undeclared")), string(urnOf("seen")))
		}, change},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, c.failures...)
			k.exists("x", in{"size": 1})
			k.up(program(func(s *script) {
				s.thing("a", in{"x": 1})
				s.thing("undeclared", nil)
				s.read("seen", "x")
			}))
			k.options.ContinueOnError = true
			if c.before != nil {
				c.before(k)
			}
			r := k.try(sluice.Update, program(c.after))
			require.Error(t, r.err)
			require.NotContains(t, r.changed(), "delete undeclared")
			require.Equal(t, []urn.URN{urnOf("seen"), urnOf("undeclared")}, r.Kept)
			require.Equal(t, r.Kept, r.summary().Kept)
			require.Subset(t, k.names(), []string{"undeclared", "seen"})
			for _, u := range r.Kept {
				require.Equal(t, stages.ReasonUndecided, r.Why(u).Links[0].Reason)
			}
		})
	}
}

// Old copies of an earlier replacement are deleted because of that replacement, and not because they are not declared.
func TestOldCopiesGoAfterAFailure(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodUpdate, Name: "a", Update: true})
	version := func(v int) func(s *script) {
		return func(s *script) {
			s.thing("a", in{"x": v})
			s.thing("b", in{"immutable": v})
		}
	}
	k.up(program(version(1)))
	k.options.ContinueOnError = true
	r := k.fails(program(version(2)), "refused to update a")
	require.Equal(t, []string{"update a", "create b", "delete b"}, r.changed())
	require.Empty(t, r.Kept)
}

func TestTheNextUpdateWithoutAFailureDeletesWhatWasKept(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodUpdate, Name: "a", Nth: 1, Update: true})
	k.up(two)
	k.options.ContinueOnError = true
	require.Equal(t, []urn.URN{urnOf("b")}, k.fails(program(one(in{"x": 2})), "refused").Kept)
	r := k.up(program(one(in{"x": 2})))
	require.Equal(t, []string{"update a", "delete b"}, r.changed())
	require.Empty(t, r.Kept)
}

// A kept resource refers to a replaced provider: that provider is kept, too.
func TestWhatIsKeptKeepsItsProvider(t *testing.T) {
	k := newKit(t, failCreate("fresh", errRefused))
	k.up(program(func(s *script) {
		_, p := s.provider("p", in{"region": "eu"})
		s.thing("kept", nil, via(p))
	}))
	before := k.recorded("kept")
	k.options.ContinueOnError = true
	r := k.fails(program(func(s *script) {
		s.provider("p", in{"region": "us"})
		s.thing("fresh", nil)
	}), "refused")
	require.Equal(t, []urn.URN{urnOf("kept")}, r.Kept)
	require.Equal(t, before, k.recorded("kept"))
}

// A preview whose failures hide nothing from the program shows what would be deleted.
func TestPreviewShowsDeletesBesideRefusals(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		s.thing("a", in{"immutable": 1}, protect(true))
		s.thing("b", nil)
	}))
	r := k.try(sluice.Preview, program(func(s *script) { s.thing("a", in{"immutable": 2}, protect(true)) }))
	require.Error(t, r.err)
	require.Equal(t, 1, r.Changes[stages.OpDelete])
	require.Empty(t, r.Kept)
}

func TestOmittedResourcesAreSkipped(t *testing.T) {
	k := newKit(t, failCreate("fresh", errRefused))
	k.up(program(func(s *script) {
		s.thing("a", in{"x": 1})
		s.thing("old name", nil)
	}))
	k.options.ContinueOnError = true
	r := k.fails(program(func(s *script) {
		s.thing("fresh", nil)
		s.omit("a", urnOf("fresh"))
		s.m.Omit(s.ctx, &stages.RegisterRequest{
			Type: "test:index:Thing", Name: "new name", Aliases: []urn.Alias{{Name: "old name"}}, AliasSpecs: true,
		}, []urn.URN{urnOf("a")})
		s.omit("never made", urnOf("new name"))
	}), "refused")
	require.ElementsMatch(t, []string{"a", "old name"}, k.names())
	require.Empty(t, r.Kept, "they are skipped")
	skipped := map[urn.URN]urn.URN{}
	for _, d := range r.Decisions().Decisions {
		if d.Fate == stages.FateSkipped {
			skipped[d.URN] = d.FailedDependency
		}
	}
	require.Equal(t, map[urn.URN]urn.URN{
		urnOf("a"): urnOf("fresh"), urnOf("new name"): urnOf("fresh"), urnOf("never made"): urnOf("fresh"),
	}, skipped)
}

// A destroy that runs the program deletes all recorded resources, whatever the program could not declare.
func TestDestroyThatRunsTheProgramKeepsNothing(t *testing.T) {
	k := newKit(t)
	k.up(two)
	k.options.ContinueOnError, k.options.RunProgram = true, true
	r := k.try(sluice.Destroy, program(func(s *script) {
		s.thing("a", in{"x": 1})
		s.omit("b", urnOf("a"))
	}))
	require.NoError(t, r.err)
	require.Empty(t, k.names())
}

var failingHook = stages.Hook{Name: "h", Run: func(context.Context, stages.HookInput) error { return errors.New("the hook fails") }}

// withoutResults registers a thing like an SDK that supports no results but success, and continues after the error.
func withoutResults(s *script, name string, inputs in) {
	_, err := s.m.Register(s.ctx, &stages.RegisterRequest{Type: "test:index:Thing", Name: name, Custom: true, Inputs: values(inputs)})
	if err == nil {
		s.err = errors.New("there is no error")
	}
}
