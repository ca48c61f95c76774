package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func TestRefreshRecordsWhatIsThere(t *testing.T) {
	type row struct {
		id, arn string
		inputs  in
		gone    bool
		partial bool
		want    stages.Op
	}
	for name, test := range map[string]row{
		"unchanged":    {id: "x", arn: "old", inputs: in{"size": 1}, want: stages.OpSame},
		"outputs only": {id: "x", arn: "new", inputs: in{"size": 1}, want: stages.OpSame},
		"inputs":       {id: "x", arn: "old", inputs: in{"size": 2}, want: stages.OpUpdate},
		"another ID":   {id: "y", arn: "old", inputs: in{"size": 1}, want: stages.OpSame},
		"gone":         {gone: true, want: stages.OpDelete},
		"not healthy":  {id: "x", arn: "old", inputs: in{"size": 1}, partial: true, want: stages.OpSame},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
			k.fake = func(f *providertest.Fake) {
				f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
					switch {
					case test.gone:
						return providers.ReadResponse{Absent: true}, nil
					case test.partial:
						return providers.ReadResponse{}, &providers.InitError{
							ID: test.id, Reasons: []string{"it is ill"}, Inputs: values(test.inputs), HasInputs: true, Properties: values(in{"arn": test.arn}),
						}
					}
					return providers.ReadResponse{
						ID: test.id, Inputs: values(test.inputs), HasInputs: true, Properties: values(in{"arn": test.arn}),
					}, nil
				}
			}
			out := k.try(sluice.Refresh, nil)
			require.NoError(t, out.err)
			out.step(test.want, "a")
			require.Empty(t, out.changed())
			if test.gone {
				require.Empty(t, k.names())
				return
			}
			a := k.recorded("a")
			require.Equal(t, test.id, a.ID)
			require.Equal(t, values(test.inputs), a.Inputs)
			require.Equal(t, property.String(test.arn), a.Outputs.At("arn"))
			if test.partial {
				require.Equal(t, []string{"it is ill"}, a.InitErrors)
				out.requireDiagnostic(stages.Warning, 0, "Refreshed resource is in an unhealthy state:\n* it is ill")
			}
		})
	}
}

func TestRefreshThatMissesSomethingStripsReferencesToIt(t *testing.T) {
	for name, byProgram := range map[string]bool{"plain": false, "by the program": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.options.RunProgram = byProgram
			p := program(func(s *script) {
				g := s.group("g")
				a := s.thing("a", nil, parent(g))
				s.thing("b", nil, dependsOn(a), deletedWith(a), replaceWith(a), from("x", a))
				s.thing("c", nil, parent(a))
			})
			k.up(p)
			a, c := k.recorded("a"), k.recorded("c")
			require.NoError(t, k.cloud.Remove(a.ID))
			out := k.try(sluice.Refresh, p)
			require.NoError(t, out.err)
			out.step(stages.OpDelete, "a")
			require.Equal(t, []string{"g", "c", "b"}, k.names())
			b := k.recorded("b")
			require.Empty(t, b.Dependencies)
			require.Empty(t, b.PropertyDependencies["x"])
			require.Empty(t, b.ReplaceWith)
			require.Empty(t, b.DeletedWith)
			require.Empty(t, k.recorded("c").Parent) // not g: decision 0011
			require.Equal(t, c.URN, k.recorded("c").URN)

			// The next update restores everything.
			k.options.RunProgram = false
			k.up(p)
			require.Equal(t, a.URN, k.recorded("c").Parent)
			require.Equal(t, a.URN, k.recorded("b").DeletedWith)
			require.Equal(t, c.ID, k.recorded("c").ID)
		})
	}
}

func TestExternalResourceIsReadAndNotComparedByARefresh(t *testing.T) {
	for name, byProgram := range map[string]bool{"plain": false, "by the program": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.exists("there", in{"size": 1})
			p := program(func(s *script) { s.read("r", "there") })
			k.up(p)
			k.options.RunProgram = byProgram
			k.exists("there", in{"size": 2})
			out := k.try(sluice.Refresh, p)
			require.NoError(t, out.err)
			require.Equal(t, []string{"read r"}, out.did())
			require.Equal(t, property.Number(2), k.recorded("r").Outputs.At("size"))
			require.True(t, k.recorded("r").External)
			if !byProgram {
				out.requireCounts(map[stages.Op]int{stages.OpUpdate: 1})
				k.try(sluice.Refresh, p).requireCounts(map[stages.Op]int{stages.OpSame: 1})
			}

			require.NoError(t, k.cloud.Remove("there"))
			k.options.RunProgram = false
			require.NoError(t, k.try(sluice.Refresh, nil).err)
			require.Empty(t, k.names())
		})
	}
}

func TestInterruptedRefreshKeepsWhatWasReadAndLeavesTheRest(t *testing.T) {
	for name, byProgram := range map[string]bool{"plain": false, "by the program": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKitWith(t, providertest.Options{Latency: func(c providertest.Call) time.Duration {
					if c.Method == providers.MethodRead {
						return 10 * time.Second
					}
					return 0
				}})
				const many = 600 // more than a refresh reads at once
				var all []string
				for i := range many {
					all = append(all, fmt.Sprintf("r%03d", i))
				}
				p := program(func(s *script) {
					for _, name := range all {
						s.thing(name, in{"size": 1})
					}
				})
				k.up(p)
				for _, name := range all {
					require.NoError(t, k.cloud.Put(providertest.Record{
						ID: idOf(name, 1), URN: urnOf(name), Type: urnOf(name).Type(), Inputs: values(in{"size": 2}),
					}))
				}
				interrupts := &sluice.Interrupts{}
				k.options.Interrupts, k.options.RunProgram = interrupts, byProgram
				time.AfterFunc(5*time.Second, interrupts.Cancel)
				out := k.try(sluice.Refresh, p)
				requireCanceled(t, out)
				require.Equal(t, all, k.names())
				found := 0
				for _, name := range all {
					was := slices.Contains(out.did(), "read "+name)
					require.Equal(t, was, k.recorded(name).Inputs.At("size").AsNumber() == 2, name)
					if was {
						found++
					}
				}
				require.NotZero(t, found)
				require.Less(t, found, many)
			})
		})
	}
}

func TestWhatAsksForItIsReadBeforeTheProgramAndNothingElse(t *testing.T) {
	k := newKit(t)
	p := program(three(1))
	k.up(p)
	k.change("a", func(r *state.Resource) { r.RefreshBeforeUpdate = true })
	require.NoError(t, k.cloud.Remove(idOf("a", 1)))
	out := k.up(p)
	require.Equal(t, "read a", out.did()[0])
	require.Equal(t, []string{"create a"}, out.changed())
	require.NotContains(t, out.did(), "read c")
}

// With RefreshOnly an update reads what is named, what its provider wants to be read, and what an interrupted operation was about.
func TestAnUpdateReadsOnlySome(t *testing.T) {
	for name, byProgram := range map[string]bool{"before the program": false, "by the program": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := program(func(s *script) {
				for _, name := range []string{"asks", "interrupted", "named", "other"} {
					s.thing(name, nil)
				}
			})
			k.up(p)
			s := *k.state.Snapshot()
			s.Pending = append(s.Pending, state.Pending{Type: state.Updating, Resource: k.recorded("interrupted").Clone()})
			k.state = sluice.NewMemoryState(&s)
			k.options.State = k.state
			k.change("asks", func(r *state.Resource) { r.RefreshBeforeUpdate = true })
			k.options.RefreshOnly = map[urn.URN]bool{urnOf("named"): true}
			reads := func() []string {
				var names []string
				for _, step := range k.up(p).steps() {
					if op, name, _ := strings.Cut(step, " "); op == string(stages.OpRefresh) && name != "p-dev" {
						names = append(names, name)
					}
				}
				slices.Sort(names)
				return names
			}
			k.options.Refresh, k.options.RunProgram = true, byProgram
			require.Equal(t, []string{"asks", "interrupted", "named"}, reads())
			require.Empty(t, k.state.Snapshot().Pending)
			k.options.RefreshOnly = map[urn.URN]bool{}
			require.Empty(t, reads())
			k.options.RefreshOnly = nil
			require.Equal(t, []string{"asks", "interrupted", "named", "other"}, reads())
			k.options.RefreshOnly, k.options.Refresh = map[urn.URN]bool{urnOf("named"): true}, false
			require.Empty(t, reads(), "without Refresh it means nothing")
		})
	}
}

func TestOldCopiesAreReadWithWhatAsksForIt(t *testing.T) {
	k := newKit(t)
	p := program(three(1))
	k.up(p)
	k.change("a", func(r *state.Resource) { r.RefreshBeforeUpdate = true })
	s := *k.state.Snapshot()
	old := k.recorded("a").Clone()
	old.ID, old.Delete = "gone", true
	s.Resources = append(slices.Clone(s.Resources), old)
	k.state = sluice.NewMemoryState(&s)
	k.options.State = k.state
	out := k.up(p)
	require.Len(t, slices.DeleteFunc(out.did(), func(s string) bool { return s != "read a" }), 2)
	require.Empty(t, out.changed()) // nothing is deleted, because the object does not exist
	require.ElementsMatch(t, []string{"a", "b", "c"}, k.names())
}

func TestWhatWasReadIsKeptThoughItCouldNotBeCompared(t *testing.T) {
	for name, c := range map[string]struct {
		byProgram, declared, kept bool
	}{
		"plain":                              {kept: true},
		"by the program, which declares it":  {byProgram: true, declared: true},
		"by the program, which does without": {byProgram: true, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			declares := func(all bool) source.Func {
				return program(func(s *script) {
					if all {
						s.thing("a", in{"size": 1})
					}
				})
			}
			k.up(declares(true))
			require.NoError(t, k.cloud.Put(providertest.Record{
				ID: idOf("a", 1), URN: urnOf("a"), Type: urnOf("a").Type(), Inputs: values(in{"size": 2}),
			}))
			k.fake = func(f *providertest.Fake) {
				f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
					return providers.DiffResponse{}, errors.New("no comparison")
				}
			}
			k.options.RunProgram = c.byProgram
			out := k.try(sluice.Refresh, declares(c.declared))
			require.Error(t, out.err)
			out.requireDiagnostic(stages.Error, 2000, "no comparison")
			want := 1
			if c.kept {
				want = 2
			}
			require.Equal(t, property.Number(float64(want)), k.recorded("a").Inputs.At("size"))
		})
	}
}

func TestRefreshDropsPendingOperationsThatItHasLookedAtAndKeepsCreates(t *testing.T) {
	for name, byProgram := range map[string]bool{"plain": false, "by the program": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := program(func(s *script) {
				s.thing("a", nil)
				s.thing("b", nil)
				s.thing("c", nil)
			})
			k.up(p)
			interrupt(k, "c")
			s := *k.state.Snapshot()
			s.Pending = append(s.Pending,
				state.Pending{Type: state.Updating, Resource: k.recorded("a").Clone()},
				state.Pending{Type: state.Deleting, Resource: k.recorded("b").Clone()},
				state.Pending{Type: state.Reading, Resource: k.recorded("b").Clone()})
			k.state = sluice.NewMemoryState(&s)
			k.options.State, k.options.RunProgram = k.state, byProgram

			out := k.try(sluice.PreviewRefresh, p)
			require.NoError(t, out.err)
			require.Empty(t, out.diagnostics(stages.Warning))
			require.Len(t, k.state.Snapshot().Pending, 4)

			out = k.try(sluice.Refresh, p)
			require.NoError(t, out.err)
			require.Empty(t, out.diagnostics(stages.Warning))
			pending := k.state.Snapshot().Pending
			require.Len(t, pending, 1)
			require.Equal(t, state.Creating, pending[0].Type)
			require.Equal(t, urnOf("c"), pending[0].Resource.URN)
		})
	}
}

// An object that is not healthy exists, under the ID by which it was read if the error names none.
func TestAnUnhealthyObjectKeepsItsID(t *testing.T) {
	k := newKit(t)
	k.exists("read", in{"x": 1})
	declare := program(func(s *script) {
		s.thing("managed", in{"x": 1})
		s.read("external", "read")
	})
	k.up(declare)
	k.exists("imported", in{"x": 1})
	k.fake = func(f *providertest.Fake) {
		f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
			return providers.ReadResponse{}, fmt.Errorf("asked: %w", &providers.InitError{Reasons: []string{"not ready"}, HasInputs: true})
		}
	}
	ids := func() []string { return []string{k.recorded("managed").ID, k.recorded("external").ID} }
	k.try(sluice.Refresh, nil)
	require.Equal(t, []string{idOf("managed", 1), "read"}, ids())
	require.Equal(t, []string{"not ready"}, k.recorded("managed").InitErrors)
	k.options.Refresh = true
	k.try(sluice.Update, declare)
	require.Equal(t, []string{idOf("managed", 1), "read"}, ids())
	k.options.Refresh = false
	k.try(sluice.Update, program(func(s *script) { s.thing("new", in{"x": 1}, imports("imported")) }))
	require.Equal(t, "imported", k.recorded("new").ID)
}

// What asks to be read before an update has nothing to do with the targets of the update, which may name what is new.
func TestATargetMayBeNewAlthoughSomethingIsReadFirst(t *testing.T) {
	k := newKit(t)
	k.up(program(one(nil)))
	k.change("a", func(r *state.Resource) { r.RefreshBeforeUpdate = true })
	k.options.Targeting.Targets = set(t, string(urnOf("new")))
	r := k.up(program(func(s *script) { s.thing("a", nil); s.thing("new", nil) }))
	require.Equal(t, []string{"create new"}, r.changed())
}

func TestAPausedRefreshReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(nil)))
		began := time.Now()
		k.options.Interrupts = &sluice.Interrupts{}
		k.options.Interrupts.Pause()
		time.AfterFunc(time.Minute, k.options.Interrupts.Resume)
		k.fake = func(f *providertest.Fake) {
			f.OnRead = func(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
				require.Equal(t, time.Minute, time.Since(began))
				return f.Base.Read(ctx, r)
			}
		}
		r := k.try(sluice.Refresh, nil)
		require.NoError(t, r.err)
		require.Len(t, asked[providers.ReadRequest](r, "a"), 1)
	})
}
