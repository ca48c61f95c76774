package rules

import (
	"context"
	"errors"
	"testing"
	"time"

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
		named    bool // the name is the ID, as another resource of the type shows
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

// An unhealthy object exists: it is adopted as it is, and the next update makes it healthy.
func TestRecoverFindsWhatIsNotHealthy(t *testing.T) {
	const name = "a-1a2b3c4d"
	k := newKit(t)
	declared := program(func(s *script) { s.thing("a", in{"name": name, "unhealthy": true}) })
	k.fails(declared, "a is unhealthy")
	require.NoError(t, k.cloud.Remove(idOf("a", 1)))
	interrupt(k, "a")
	k.exists(name, in{"name": name, "unhealthy": true})
	require.NoError(t, k.try(sluice.Recover, nil).err)
	require.Empty(t, k.state.Snapshot().Pending)
	require.Equal(t, name, k.recorded("a").ID)
	require.Equal(t, []string{name + " is unhealthy"}, k.recorded("a").InitErrors)
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
	outcomes := map[string]string{}
	for _, is := range out.Resolved {
		outcomes[string(is.Type)+" "+is.Resource.URN.Name()] = string(is.Outcome) + ": " + is.Why
	}
	require.Equal(t, map[string]string{
		"updating updated":     "exists: the object was read",
		"deleting deleted":     "gone: no object was found",
		"deleting not-deleted": "exists: the object was read",
		"updating unreadable":  "unknown: the object could not be read: no access",
		"reading other":        "dropped: it changes no object",
		"importing other":      "dropped: it changes no object",
	}, outcomes)
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

// A provider that cannot read an object answers with what it was given, which proves nothing.
func TestAnOperationIsNotResolvedByAProviderThatCannotRead(t *testing.T) {
	for name, op := range map[string]operation{"recover": sluice.Recover, "refresh": sluice.Refresh} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.fake = func(f *providertest.Fake) {
				f.OnRead = func(_ context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
					return providers.ReadResponse{ID: r.ID, Inputs: r.Inputs, HasInputs: true, Properties: r.State, Unread: true}, nil
				}
			}
			k.up(program(func(s *script) {
				s.thing("updated", in{"size": 1})
				s.thing("deleted", in{"size": 1})
			}))
			pend(
				k,
				state.Pending{Type: state.Updating, Resource: k.recorded("updated").Clone()},
				state.Pending{Type: state.Deleting, Resource: k.recorded("deleted")},
			)
			out := k.try(op, nil)
			for _, is := range out.Resolved {
				require.Equal(t, stages.Unresolved, is.Outcome)
				require.Contains(t, is.Why, "nothing can be read")
			}
			require.Len(t, k.state.Snapshot().Pending, 2)

			// What repeats them resolves them.
			k.up(program(func(s *script) { s.thing("updated", in{"size": 2}) }))
			require.Empty(t, k.state.Snapshot().Pending)
		})
	}
}

// The record of the operation has the new name, and the state still has the old one.
func TestRecoverReadsWhatAnInterruptedUpdateWasToRename(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
	require.NoError(t, k.cloud.Put(providertest.Record{
		ID: idOf("a", 1), URN: urnOf("a"), Type: urnOf("a").Type(), Inputs: values(in{"size": 2}),
	}))
	renamed := k.recorded("a").Clone()
	renamed.URN, renamed.ID, renamed.Aliases = urnOf("b"), "", []urn.URN{urnOf("a")}
	pend(k, state.Pending{Type: state.Updating, Resource: renamed})
	require.NoError(t, k.try(sluice.Recover, nil).err)
	require.Empty(t, k.state.Snapshot().Pending)
	require.Equal(t, 2.0, k.recorded("a").Inputs.At("size").AsNumber())
}

func TestRecoverForgetsUpdatesAndDeletesOfWhatIsNotThere(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil) }))
	component := &state.Resource{URN: "urn:pulumi:dev::p::test:index:Group::g", Type: "test:index:Group"}
	gone := k.recorded("a").Clone()
	gone.URN, gone.ID = urnOf("gone"), "gone-1"
	pend(k, state.Pending{Type: state.Updating, Resource: component}, state.Pending{Type: state.Deleting, Resource: gone})
	require.NoError(t, k.try(sluice.Recover, nil).err)
	require.Empty(t, k.state.Snapshot().Pending)
}

// A run without a step for an object knows no more about it than the recorded state.
func TestInterruptedChangesStayPendingUntilTheirObjectIsKnown(t *testing.T) {
	for _, typ := range []state.PendingType{state.Updating, state.Deleting} {
		t.Run(string(typ), func(t *testing.T) {
			k := newKit(t)
			size := 1
			p := program(func(s *script) {
				s.thing("a", in{"size": size})
				s.thing("b", nil)
			})
			k.up(p)
			op := state.Pending{Type: typ, Resource: k.recorded("a").Clone()}
			if typ == state.Updating {
				op.Resource.ID = "" // as it is recorded
			}
			pend(k, op)
			for range 2 {
				require.NoError(t, k.try(sluice.Update, p).err)
				require.Len(t, k.state.Snapshot().Pending, 1)
				require.Equal(t, typ, k.state.Snapshot().Pending[0].Type)
			}
			size = 2
			k.up(p)
			require.Empty(t, k.state.Snapshot().Pending)
		})
	}
}

func TestRecoverForgetsCreatesThatMakeNothingOutsideTheState(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil) }))
	component := &state.Resource{URN: "urn:pulumi:dev::p::test:index:Group::g", Type: "test:index:Group"}
	pend(k, state.Pending{Type: state.Creating, Resource: component})
	require.NoError(t, k.try(sluice.Recover, nil).err)
	require.Empty(t, k.state.Snapshot().Pending)
}

func TestRecoverFindsWhatTheCreateOfAReplacementHasMade(t *testing.T) {
	const oldName, newName = "a-1a2b3c4d", "a-5e6f7a8b"
	for title, c := range map[string]struct {
		since   bool // something else has been recorded since
		exists  bool
		names   string // of the new object
		outcome stages.ResolutionOutcome
		why     string
	}{
		"found":          {false, true, newName, stages.Adopted, "the object has the name that was made up for it"},
		"not found":      {false, false, newName, stages.Unresolved, "the names of objects of the type may not be their IDs"},
		"the old object": {false, true, oldName, stages.Unresolved, "is the one that was to be replaced"},
		"recorded since": {true, true, newName, stages.Unresolved, "has been recorded as the resource since"},
	} {
		t.Run(title, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) { s.thing("a", in{"name": oldName}) }))
			require.NoError(t, k.cloud.Remove(idOf("a", 1)))
			k.exists(oldName, in{"name": oldName})
			k.change("a", func(r *state.Resource) { r.ID = oldName; r.Inputs = r.Inputs.With("name", property.String("")) })
			half := k.recorded("a").Clone()
			half.ID, half.Outputs, half.Inputs = "", values(nil), values(in{"name": c.names})
			if c.since {
				half.Created = half.Created.Add(-time.Hour)
			}
			pend(k, state.Pending{Type: state.Creating, Resource: half})
			if c.exists && c.names == newName {
				k.exists(newName, in{"name": newName})
			}
			out := k.try(sluice.Recover, nil)
			require.NoError(t, out.err)
			require.Len(t, out.Resolved, 1)
			require.Equal(t, c.outcome, out.Resolved[0].Outcome)
			require.Contains(t, out.Resolved[0].Why, c.why)
			if c.outcome != stages.Adopted {
				require.Equal(t, []string{"a"}, k.names())
				k.options.ResolveCreate = resolves(stages.CreateResolution{Clear: true})
				out = k.try(sluice.Recover, nil)
				require.NoError(t, out.err)
				require.Equal(t, stages.NotCreated, out.Resolved[0].Outcome)
				require.Empty(t, out.Resolved[0].ID)
				require.Equal(t, oldName, k.recorded("a").ID)
				return
			}
			require.Equal(t, newName, out.Resolved[0].ID)
			require.Equal(t, oldName, out.Resolved[0].Replaced)
			require.Equal(t, []string{"a", "a (delete)"}, k.names())
		})
	}
}
