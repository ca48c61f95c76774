package rules

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// pend adds pending operations.
func pend(k *kit, ops ...state.Pending) {
	s := *k.state.Snapshot()
	s.Pending = append(s.Pending, ops...)
	k.state = sluice.NewMemoryState(&s)
	k.options.State = k.state
}

func TestRecoverLooksForWhatACreateHasMadeByTheNameThatWasMadeUpForIt(t *testing.T) {
	const madeUp, chosen = "a-1a2b3c4d", "the-only-one"
	for title, c := range map[string]struct {
		name     string
		exists   bool
		named    bool // another resource of the type shows that its name is its ID
		adopted  bool
		left     bool
		warning  string
		existing in
	}{
		"found":                                       {name: madeUp, exists: true, adopted: true},
		"found, as names are IDs":                     {name: madeUp, exists: true, named: true, adopted: true},
		"not found, which says nothing":               {name: madeUp, left: true},
		"not found, although names are IDs":           {name: madeUp, named: true},
		"a name that somebody chose":                  {name: chosen, exists: true, left: true},
		"a chosen name, found":                        {name: chosen, exists: true, named: true, left: true, warning: "if so, adopt it"},
		"a chosen name, not found":                    {name: chosen, named: true},
		"something else has the name as its ID":       {name: madeUp, exists: true, existing: in{"name": "other"}, left: true},
		"a word behind the name is not made up by us": {name: "a-production", exists: true, left: true},
	} {
		t.Run(title, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				s.thing("a", in{"name": c.name})
				s.thing("b", nil)
			}))
			require.NoError(t, k.cloud.Remove(idOf("a", 1)))
			if c.named {
				k.change("b", func(r *state.Resource) { r.Inputs = r.Inputs.With("name", property.String(r.ID)) })
			}
			interrupt(k, "a")
			if c.exists {
				inputs := in{"name": c.name}
				if c.existing != nil {
					inputs = c.existing
				}
				k.exists(c.name, inputs)
			}
			out := k.try(sluice.Recover, nil)
			require.NoError(t, out.err)
			require.Equal(t, c.left, len(k.state.Snapshot().Pending) == 1)
			if c.adopted {
				require.Equal(t, c.name, k.recorded("a").ID)
			} else {
				require.Empty(t, k.all("a"))
			}
			if c.warning != "" {
				out.requireDiagnostic(stages.Warning, 0, c.warning)
				out.requireAdvice(stages.Warning, advice.Advice{Action: advice.Adopt, URNs: []urn.URN{urnOf("a")}, ID: c.name})
			} else {
				require.Empty(t, out.diagnostics(stages.Warning))
			}
			require.NotContains(t, out.did(), "read b", "nothing else is touched")

		})
	}
}

func TestRecoverAssumesThatNothingWasMadeOnlyWhereNothingIsFound(t *testing.T) {
	for title, exists := range map[string]bool{"found": true, "not found": false} {
		t.Run(title, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) { s.thing("a", in{"name": "a-1a2b3c4d"}) }))
			interrupt(k, "a")
			if exists {
				k.exists("a-1a2b3c4d", in{"name": "a-1a2b3c4d"})
			}
			k.options.ResolveCreate = func(state.Pending) stages.CreateResolution {
				return stages.CreateResolution{Clear: true}
			}
			require.NoError(t, k.try(sluice.Recover, nil).err)
			require.Empty(t, k.state.Snapshot().Pending)
			require.Equal(t, exists, len(k.all("a")) == 1)
		})
	}
}

func TestRecoverResolvesUpdatesAndDeletesByReading(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodRead, Name: "unreadable", Err: errors.New("no access")})
	names := []string{"updated", "deleted", "not-deleted", "unreadable", "other"}
	k.up(program(func(s *script) {
		for _, name := range names {
			s.thing(name, in{"size": 1})
		}
	}))
	for _, name := range []string{"updated", "other"} {
		require.NoError(t, k.cloud.Put(providertest.Record{
			ID: idOf(name, 1), URN: urnOf(name), Type: urnOf(name).Type(), Inputs: values(in{"size": 2}),
		}))
	}
	require.NoError(t, k.cloud.Remove(idOf("deleted", 1)))
	pend(
		k,
		state.Pending{Type: state.Updating, Resource: k.recorded("updated").Clone()},
		state.Pending{Type: state.Deleting, Resource: k.recorded("deleted")},
		state.Pending{Type: state.Deleting, Resource: k.recorded("not-deleted")},
		state.Pending{Type: state.Updating, Resource: k.recorded("unreadable").Clone()},
		state.Pending{Type: state.Reading, Resource: k.recorded("other").Clone()},
		state.Pending{Type: state.Importing, Resource: k.recorded("other").Clone()},
	)
	out := k.try(sluice.Recover, nil)
	require.Error(t, out.err, "one could not be read")
	require.Equal(t, 2.0, k.recorded("updated").Inputs.At("size").AsNumber())
	require.Empty(t, k.all("deleted"))
	require.Len(t, k.all("not-deleted"), 1)
	require.Equal(t, 1.0, k.recorded("other").Inputs.At("size").AsNumber(), "nothing else is touched")
	require.NotContains(t, out.did(), "read other")
	pending := k.state.Snapshot().Pending
	require.Len(t, pending, 1)
	require.Equal(t, urnOf("unreadable"), pending[0].Resource.URN)
	require.Equal(t, state.Updating, pending[0].Type)
}

func TestRecoverForgetsCreatesThatMakeNothingOutsideTheState(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil) }))
	component := &state.Resource{URN: "urn:pulumi:dev::p::test:index:Group::g", Type: "test:index:Group"}
	pend(k, state.Pending{Type: state.Creating, Resource: component})
	require.NoError(t, k.try(sluice.Recover, nil).err)
	require.Empty(t, k.state.Snapshot().Pending)
}
