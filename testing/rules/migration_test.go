package rules

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/migration"
	"github.com/sluice-iac/sluice/urn"
)

// State migrations (decision 0280).

// recorded is the recorded state of a resource, as a state migration gets it.
type recorded = map[string]any

// migrate gives a registration a state migration, which returns nil to change nothing.
func migrate(f func(states []recorded) ([]recorded, map[string]string)) option {
	return migrateOr(func(_ urn.URN, states []recorded) ([]recorded, map[string]string, error) {
		next, successors := f(states)
		return next, successors, nil
	})
}

func migrateOr(f func(u urn.URN, states []recorded) ([]recorded, map[string]string, error)) option {
	return func(r *stages.RegisterRequest) {
		r.StateMigrations = append(r.StateMigrations, func(_ context.Context, u urn.URN, text []byte) (migration.Result, error) {
			var states []recorded
			if err := json.Unmarshal(text, &states); err != nil {
				return migration.Result{}, err
			}
			next, successors, err := f(u, states)
			if err != nil || next == nil && successors == nil {
				return migration.Result{}, err
			}
			out := migration.Result{Successors: map[urn.URN]urn.URN{}}
			for old, u := range successors {
				out.Successors[urn.URN(old)] = urn.URN(u)
			}
			if next == nil {
				return out, nil
			}
			out.States, err = json.Marshal(next)
			return out, err
		})
	}
}

// named returns the place of a recorded state, -1 if there is none.
func named(states []recorded, name string) int {
	return slices.IndexFunc(states, func(r recorded) bool { return strings.HasSuffix(r["urn"].(string), "::"+name) })
}

// renaming is a migration that renames a resource.
func renaming(old, name string) option {
	return migrate(func(states []recorded) ([]recorded, map[string]string) {
		i := named(states, old)
		if i < 0 {
			return nil, nil
		}
		was := states[i]["urn"].(string)
		now := strings.TrimSuffix(was, old) + name
		states[i]["urn"] = now
		return states, map[string]string{was: now}
	})
}

// messageAt returns the messages at a resource that are for information.
func (r *ran) messageAt(u urn.URN) string {
	var out []string
	for _, d := range r.diagnostics(stages.Info) {
		if d.URN == u {
			out = append(out, d.Message)
		}
	}
	return strings.Join(out, "\n")
}

func TestAMigrationRenamesWhatIsBelowItsResource(t *testing.T) {
	for name, withPreview := range map[string]bool{"after a preview": true, "at once": false} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) {
				s.thing("first", in{"size": 1})
				g := s.group("g")
				child := s.thing("old", in{"size": 1}, parent(g))
				s.thing("below", nil, parent(child))
				s.thing("user", nil, from("x", child))
			}))
			was := k.recorded("old")
			p := program(func(s *script) {
				s.thing("first", in{"size": 2})
				g := s.group("g", renaming("old", "new"))
				child := s.thing("new", in{"size": 1}, parent(g))
				s.thing("below", nil, parent(child))
				s.thing("user", nil, from("x", child))
			})
			if withPreview {
				before := k.state.Snapshot()
				r := k.preview(p)
				require.Equal(t, map[stages.Op]int{stages.OpSame: 4, stages.OpUpdate: 1}, r.Changes)
				require.Equal(t, []string{"update first", "same g", "same new", "same below", "same user"}, r.steps())
				require.Equal(t, before, k.state.Snapshot())
				require.Equal(t, "state migration: the recorded state is changed; the program runs again with it:\n  "+
					string(was.URN)+" becomes "+string(urnOf("new").Under(k.recorded("g").URN)), r.messageAt(k.recorded("g").URN))
			}
			r := k.up(p)
			require.Equal(t, []string{"update first"}, r.changed())
			require.Equal(t, []string{"update first", "same g", "same new", "same below", "same user"}, r.steps())
			r.requireCounts(map[stages.Op]int{stages.OpSame: 4, stages.OpUpdate: 1})
			r.step(stages.OpUpdate, "first")
			require.Empty(t, k.all("old"))
			require.Equal(t, was.ID, k.recorded("new").ID)
			require.Equal(t, []urn.URN{k.recorded("new").URN}, k.recorded("user").Dependencies)
			require.Equal(t, k.recorded("new").URN, k.recorded("below").Parent)

			again := k.up(p)
			require.Empty(t, again.changed())
			again.requireCounts(map[stages.Op]int{stages.OpSame: 5})
			require.Empty(t, again.messageAt(k.recorded("g").URN))
		})
	}
}

// What the program says and what policies find is shown once, although it runs twice.
func TestMessagesOfAProgramThatRunsAgainAreShownOnce(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g"))) }))
	p := program(func(s *script) {
		s.m.Log(s.ctx, stages.LogMessage{Severity: stages.Info, Message: "hello"})
		g := s.group("g", renaming("a", "b"))
		s.m.Log(s.ctx, stages.LogMessage{Severity: stages.Info, Message: "bye"})
		s.m.Log(s.ctx, stages.LogMessage{Severity: stages.Info, Message: "bye"})
		s.thing("b", in{"size": 1}, parent(g))
	})
	for _, r := range []*ran{k.preview(p), k.up(p)} {
		require.Equal(t, "hello\nbye\nbye", r.messageAt(""))
		require.Empty(t, r.diagnostics(stages.Error))
	}
}

// The registrations of a program that makes them at the same time end in the same way in any order.
func TestMigrationsAtTheSameTime(t *testing.T) {
	var first *ran
	for range 20 {
		k := newKit(t)
		k.options.Now = func() time.Time { return time.Unix(1, 0) }
		k.up(program(func(s *script) {
			for _, g := range []string{"g", "h", "i"} {
				s.thing(g+"1", in{"size": 1}, parent(s.group(g)))
			}
		}))
		r := k.up(func(ctx context.Context, m stages.Monitor) error {
			p := pool.New().WithErrors()
			for _, g := range []string{"g", "h", "i"} {
				p.Go(func() error {
					s := &script{ctx: ctx, m: m}
					s.thing(g+"2", in{"size": 1}, parent(s.group(g, renaming(g+"1", g+"2"))))
					return s.err
				})
			}
			return p.Wait()
		})
		require.Empty(t, r.changed())
		if first == nil {
			first = r
			continue
		}
		require.Equal(t, first.snapshot.Resources, r.snapshot.Resources)
		require.Equal(t, first.Changes, r.Changes)
	}
}

func TestAMigrationThatChangesNothingIsNotSeen(t *testing.T) {
	k := newKit(t)
	calls := 0
	p := program(func(s *script) {
		g := s.group("g", migrate(func(states []recorded) ([]recorded, map[string]string) {
			calls++
			slices.Reverse(states)
			return states, nil
		}))
		s.thing("a", in{"size": 1}, parent(g))
	})
	k.up(p)
	require.Zero(t, calls) // nothing is recorded
	r := k.up(p)
	require.Equal(t, 1, calls)
	r.requireCounts(map[stages.Op]int{stages.OpSame: 2})
	require.Equal(t, []string{"same g", "same a"}, r.steps())
}

func TestMigrationsOfOneResourceFollowEachOther(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g"))) }))
	id := k.recorded("a").ID
	k.up(program(func(s *script) {
		s.thing("c", in{"size": 1}, parent(s.group("g", renaming("a", "b"), renaming("b", "c"))))
	}))
	require.Equal(t, id, k.recorded("c").ID)
	require.Empty(t, k.all("b"))
}

func TestMigrationsOfSeveralResources(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		s.thing("a1", in{"size": 1}, parent(s.group("g")))
		s.thing("b1", in{"size": 1}, parent(s.group("h")))
	}))
	a, b := k.recorded("a1").ID, k.recorded("b1").ID
	r := k.up(program(func(s *script) {
		s.thing("a2", in{"size": 1}, parent(s.group("g", renaming("a1", "a2"))))
		s.thing("b2", in{"size": 1}, parent(s.group("h", renaming("b1", "b2"))))
	}))
	require.Empty(t, r.changed())
	require.Equal(t, a, k.recorded("a2").ID)
	require.Equal(t, b, k.recorded("b2").ID)
	r.requireCounts(map[stages.Op]int{stages.OpSame: 4})
}

func TestAMigrationFindsARenamedResource(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("old"))) }))
	var asked []urn.URN
	r := k.up(program(func(s *script) {
		g := s.group("new", alias(urn.Alias{Name: "old"}), migrateOr(func(u urn.URN, states []recorded) ([]recorded, map[string]string, error) {
			asked = append(asked, u)
			i := named(states, "a")
			if i < 0 {
				return nil, nil, nil
			}
			was := states[i]["urn"].(string)
			states[i]["urn"] = was + "2"
			return states, map[string]string{was: was + "2"}, nil
		}))
		s.thing("a2", in{"size": 1}, parent(g))
	}))
	require.Empty(t, r.changed())
	require.Equal(t, []urn.URN{k.recorded("new").URN, k.recorded("new").URN}, asked)
	require.Equal(t, k.recorded("new").URN, k.recorded("a2").Parent)
}

func TestAMigrationMayChangeInputsAndAddComponents(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g"))) }))
	g, a := k.recorded("g").URN, k.recorded("a").URN
	mid := g.Child("test:index:Group", "mid")
	now := mid.Child("test:index:Thing", "a")
	r := k.up(program(func(s *script) {
		outer := s.group("g", migrate(func(states []recorded) ([]recorded, map[string]string) {
			if named(states, "mid") >= 0 {
				return nil, nil
			}
			i := named(states, "a")
			states[i]["urn"], states[i]["parent"] = string(now), string(mid)
			states[i]["inputs"].(map[string]any)["size"] = 7
			return append(states, recorded{"urn": string(mid), "type": "test:index:Group", "custom": false, "parent": string(g)}), map[string]string{string(a): string(now)}
		}))
		s.thing("a", in{"size": 7}, parent(s.group("mid", parent(outer))))
	}))
	require.Empty(t, r.changed())
	r.requireCounts(map[stages.Op]int{stages.OpSame: 3})
	require.Equal(t, mid, k.recorded("a").Parent)
	require.Contains(t, r.messageAt(g), string(mid)+" is new in the state")
}

func TestARemoteComponentHasTheMigrationsOfItsCallerAfterItsOwn(t *testing.T) {
	k := newKit(t)
	own := []option{}
	child := "a"
	given := constructing(k, func(s *script, r providers.ConstructRequest) (providers.ConstructResponse, error) {
		g := s.register(r.Type, r.Name, nil, append([]option{func(q *stages.RegisterRequest) { q.Custom = false }}, own...)...)
		s.thing(child, in{"x": 1}, parent(g))
		return providers.ConstructResponse{URN: g.URN}, s.err
	})
	k.up(program(given(func(s *script) { s.register("test:index:Remote", "r", nil, remote) })))
	id := k.recorded("a").ID
	own, child = []option{renaming("a", "b")}, "c"
	r := k.up(program(given(func(s *script) { s.register("test:index:Remote", "r", nil, remote, renaming("b", "c")) })))
	require.Empty(t, r.changed())
	require.Equal(t, id, k.recorded("c").ID)
}

func TestWrongMigrationsFailAndChangeNothing(t *testing.T) {
	a := func(states []recorded) recorded { return states[named(states, "a")] }
	for name, c := range map[string]struct {
		f    func(states []recorded) ([]recorded, map[string]string)
		with func(*testing.T, *sluice.Options)
		want string
	}{
		"a resource is forgotten": {f: func(s []recorded) ([]recorded, map[string]string) { return s[:1], nil }, want: "neither returned nor has it a successor"},
		"another object": {f: func(s []recorded) ([]recorded, map[string]string) {
			a(s)["id"] = "other"
			return s, nil
		}, want: `with the ID "other"`},
		"another object under another name": {f: func(s []recorded) ([]recorded, map[string]string) {
			was := a(s)["urn"].(string)
			a(s)["urn"], a(s)["id"] = was+"2", "other"
			return s, map[string]string{was: was + "2"}
		}, want: `has the ID "other" for`},
		"a new object": {f: func(s []recorded) ([]recorded, map[string]string) {
			c := recorded{}
			for k, v := range a(s) {
				c[k] = v
			}
			c["urn"], c["id"] = c["urn"].(string)+"2", "new"
			return append(s, c), nil
		}, want: `the ID "new", which no resource among the states had`},
		"protection": {f: func(s []recorded) ([]recorded, map[string]string) {
			a(s)["protect"] = true
			return s, nil
		}, want: "protect: true"},
		"an unknown member": {f: func(s []recorded) ([]recorded, map[string]string) {
			a(s)["sice"] = 1
			return s, nil
		}, want: "sice means nothing in a state"},
		"another parent": {f: func(s []recorded) ([]recorded, map[string]string) {
			a(s)["parent"] = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"
			return s, nil
		}, want: "and so its URN must be"},
		"the provider": {f: func(s []recorded) ([]recorded, map[string]string) {
			a(s)["provider"] = "urn:pulumi:dev::p::pulumi:providers:test::nowhere::1"
			return s, nil
		}, want: "a migration must not change which object it is"},
		"a successor that is not there": {f: func(s []recorded) ([]recorded, map[string]string) {
			return s[:1], map[string]string{a(s)["urn"].(string): "urn:pulumi:dev::p::a:b:C::nowhere"}
		}, want: "is not returned"},
		"successors alone": {f: func(s []recorded) ([]recorded, map[string]string) {
			return nil, map[string]string{"a": "b"}
		}, want: "successors and no states"},
		"a reference to nothing": {f: func(s []recorded) ([]recorded, map[string]string) {
			a(s)["dependencies"] = []string{"urn:pulumi:dev::p::a:b:C::nowhere"}
			return s, nil
		}, want: "which is not in the state"},
		"a resource without an end": {f: func(s []recorded) ([]recorded, map[string]string) {
			a(s)["inputs"].(map[string]any)["size"] = a(s)["inputs"].(map[string]any)["size"].(float64) + 1
			return s, nil
		}, want: "must leave a state that they have changed as it is"},
		"targets": {with: func(t *testing.T, o *sluice.Options) { o.Targeting.Targets = set(t, "**") }, want: "with targets"},
		"a plan":  {with: func(_ *testing.T, o *sluice.Options) { o.MakePlan = true }, want: "with a plan"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g"))) }))
			was := k.state.Snapshot().Resources
			m := renaming("a", "b")
			if c.f != nil {
				m = migrate(c.f)
			}
			p := program(func(s *script) {
				s.thing("a", in{"size": 1}, parent(s.group("g", m)))
			})
			if c.with != nil {
				c.with(t, &k.options)
			}
			r := k.try(sluice.Preview, p)
			r.requireFailure(c.want)
			if k.options.MakePlan {
				return // only previews make plans
			}
			r = k.fails(p, c.want)
			require.Empty(t, r.changed())
			if name != "a resource without an end" { // its first change is recorded
				require.Equal(t, was, k.state.Snapshot().Resources)
			}
		})
	}
}

func TestAFailingMigrationIsOneOfItsResource(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g"))) }))
	r := k.fails(program(func(s *script) {
		s.group("g", migrateOr(func(urn.URN, []recorded) ([]recorded, map[string]string, error) {
			return nil, nil, errors.New("the disk is full")
		}))
	}), "state migration of "+string(k.recorded("g").URN)+": the disk is full")
	require.Empty(t, r.changed())
}

func TestNothingIsMigratedAfterAFailure(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "x"})
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g"))) }))
	k.options.ContinueOnError = true
	r := k.fails(program(func(s *script) {
		s.thing("x", nil)
		s.thing("b", in{"size": 1}, parent(s.group("g", renaming("a", "b"))))
	}), "x")
	require.Empty(t, r.changed()[1:])
	require.NotEmpty(t, k.all("a"))
}

// An interrupted operation may belong to any resource, so it is resolved first; a refresh of the same run does that.
func TestNothingIsMigratedWhileAnOperationIsPending(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		s.thing("x", in{"size": 1})
		s.thing("a", in{"size": 1}, parent(s.group("g")))
	}))
	interrupted := k.state.Snapshot()
	interrupted.Pending = []state.Pending{{Type: state.Updating, Resource: k.recorded("x")}}
	k.state = sluice.NewMemoryState(interrupted)
	k.options.State = k.state
	p := program(func(s *script) {
		s.thing("x", in{"size": 1})
		s.thing("b", in{"size": 1}, parent(s.group("g", renaming("a", "b"))))
	})
	k.fails(p, "is pending ("+string(urnOf("x")))
	require.NotEmpty(t, k.all("a"))
	k.options.Refresh = true
	k.up(p)
	require.NotEmpty(t, k.all("b"))
}

func TestRefreshesAndDestroysMigrateNothing(t *testing.T) {
	k := newKit(t)
	p := program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g", renaming("a", "b")))) })
	k.up(p)
	k.options.RunProgram = true
	r := k.try(sluice.Refresh, p)
	require.NoError(t, r.err)
	require.NotEmpty(t, k.all("a"))
	r = k.try(sluice.Destroy, p)
	require.NoError(t, r.err)
	require.Empty(t, k.state.Snapshot().Resources)
}

func TestAMigrationAfterARefresh(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}, parent(s.group("g"))) }))
	k.options.Refresh = true
	p := program(func(s *script) { s.thing("b", in{"size": 1}, parent(s.group("g", renaming("a", "b")))) })
	require.Empty(t, k.preview(p).changed())
	require.Empty(t, k.up(p).changed())
	require.NotEmpty(t, k.all("b"))
}

func TestAnInterruptDoesNotReachTheAttemptBeforeAMigration(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		s.thing("first", nil)
		s.thing("old", nil, parent(s.group("g")))
	}))
	interrupts := &sluice.Interrupts{}
	k.options.Interrupts = interrupts
	var loaded atomic.Int32  // providers, one in each attempt
	var canceled atomic.Bool // that of the first attempt
	k.fake = func(f *providertest.Fake) {
		isFirst := loaded.Add(1) == 1
		f.OnCancel = func(context.Context) error {
			if isFirst {
				canceled.Store(true)
			}
			return nil
		}
	}
	attempts := 0
	k.try(sluice.Update, program(func(s *script) {
		attempts++
		s.thing("first", nil)
		s.thing("new", nil, parent(s.group("g", renaming("old", "new"))))
		if attempts == 2 {
			interrupts.Cancel()
		}
	}))
	require.Equal(t, 2, attempts)
	require.EqualValues(t, 2, loaded.Load())
	require.False(t, canceled.Load())
}
