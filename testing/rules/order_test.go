package rules

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// atOnce makes the registrations arrive in order, without waiting for replies.
func atOnce(registrations ...func(s *script)) func(s *script) {
	return func(s *script) {
		s.err = together(len(registrations), func(i int) error {
			time.Sleep(time.Duration(i) * time.Millisecond)
			own := &script{ctx: s.ctx, m: s.m}
			registrations[i](own)
			return own.err
		})
	}
}

// slowProbes makes each probe of a dependent take an hour.
func slowProbes(f *providertest.Fake) {
	f.OnDiff = func(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
		if r.NewInputs.HasUnknowns() {
			if err := await.For(ctx, time.Hour); err != nil {
				return providers.DiffResponse{}, err
			}
		}
		return f.Base.Diff(ctx, r)
	}
}

// Registrations that have waited for a decision are decided in the order of arrival, and begin in that order if there is one worker.
func TestRegistrationsThatWaitedForADecisionGoOnInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		names := []string{"b", "c", "d", "e"}
		k.up(program(func(s *script) {
			a := s.thing("a", in{"dbr": 1})
			for _, name := range names {
				s.thing(name, nil, from("value", a))
			}
		}))
		k.fake, k.options.Parallel = slowProbes, 1
		registrations := []func(*script){func(s *script) { s.thing("a", in{"dbr": 2}) }}
		want := []string{"delete a", "create a"}
		for _, name := range names {
			registrations = append(registrations, func(s *script) { s.thing(name, in{"size": 2}) })
			want = append(want, "update "+name)
		}
		require.Equal(t, want, k.up(program(atOnce(registrations...))).changed())
	})
}

// comesAfterDelete fails the test if one of these calls begins before the delete of an object is over.
func (k *kit) comesAfterDelete(of string, calls ...string) {
	var deleted atomic.Bool
	begin := func(call string) {
		if slices.Contains(calls, call) {
			require.True(k.t, deleted.Load(), "%s begins before the delete of %s is over", call, of)
		}
	}
	k.fake = func(f *providertest.Fake) {
		f.OnDelete = func(ctx context.Context, r providers.DeleteRequest) error {
			begin("delete " + r.Name)
			err := f.Base.Delete(ctx, r)
			if r.Name == of {
				deleted.Store(true)
			}
			return err
		}
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			begin("create " + r.Name)
			return f.Base.Create(ctx, r)
		}
		slowProbes(f)
	}
}

// The program need not wait for former dependencies of its resource. If only an old copy of the resource is left, that is deleted in its
// place.
func TestWhatIsDeletedFirstIsMadeAgainAfterItsDelete(t *testing.T) {
	for name, isOldCopy := range map[string]bool{"the resource": false, "an old copy": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKitWith(t, slow())
				k.up(program(func(s *script) { s.thing("b", in{"size": 1}, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
				k.change("b", func(r *state.Resource) { r.Delete = isOldCopy })
				k.comesAfterDelete("b", "create b", "delete a")
				r := k.up(program(atOnce(
					func(s *script) { s.thing("a", in{"dbr": 2}) },
					func(s *script) { s.thing("b", in{"size": 2}) },
				)))
				require.ElementsMatch(t, []string{"delete b", "delete a", "create a", "create b"}, r.changed())
				require.ElementsMatch(t, []string{"a", "b"}, k.names())
			})
		})
	}
}

// A common dependent of two resources that are deleted first is deleted with the earlier one, and before both.
func TestWhatIsDeletedFirstWaitsForWhatGoesWithAnother(t *testing.T) {
	both := func(a, c *stages.RegisterReply, name string) option {
		return func(r *stages.RegisterRequest) { from(name+"OfA", a)(r); from(name+"OfC", c)(r) }
	}
	root := func(name string) func(*script) { return func(s *script) { s.thing(name, in{"dbr": 2}) } }
	for name, test := range map[string]struct {
		with  func(a, c *stages.RegisterReply) option
		after []func(*script)
	}{
		"a dependent": {
			func(a, c *stages.RegisterReply) option { return both(a, c, "immutable") },
			[]func(*script){root("a"), root("c"), func(s *script) { s.thing("x", in{"size": 2}) }},
		},
		"what is replaced with both": {
			func(a, c *stages.RegisterReply) option { return replaceWith(a, c) },
			[]func(*script){root("a"), root("c"), func(s *script) { s.thing("x", in{"size": 2}) }},
		},
		"the old object of one that was replaced before": {
			func(a, c *stages.RegisterReply) option { return both(a, c, "value") },
			[]func(*script){func(s *script) { s.thing("x", in{"immutable": 1}) }, root("a"), root("c")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKitWith(t, slow())
				k.up(program(func(s *script) {
					a := s.thing("a", in{"dbr": 1})
					s.thing("x", nil, test.with(a, s.thing("c", in{"dbr": 1})))
				}))
				k.comesAfterDelete("x", "delete a", "delete c")
				r := k.up(program(atOnce(test.after...)))
				require.ElementsMatch(t, []string{"delete x", "delete a", "delete c", "create a", "create c", "create x"}, r.changed())
			})
		})
	}
}

// What is renamed and deleted first is deleted with another one if it depends on that, and made again after that.
func TestWhatIsRenamedAndDeletedFirstIsMadeAgainAfterItsDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		k.up(program(func(s *script) { s.thing("b", in{"dbr": 1}, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
		k.comesAfterDelete("b", "create now", "delete a")
		r := k.up(program(atOnce(
			func(s *script) { s.thing("a", in{"dbr": 2}) },
			func(s *script) { s.thing("now", in{"dbr": 2}, alias(urn.Alias{Name: "b"})) },
		)))
		require.ElementsMatch(t, []string{"delete b", "delete a", "create a", "create now"}, r.changed())
		require.ElementsMatch(t, []string{"a", "now"}, k.names())
	})
}

// A resource that is deleted first takes a new name. What is replaced with that name, of which there is an old copy only, does not depend on the
// resource. If it is deleted with another one, the resource waits for that nevertheless.
func TestWhatTakesANameIsDeletedAfterWhatIsReplacedWithThatName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, slow())
		k.up(program(func(s *script) {
			c := s.thing("c", in{"dbr": 1})
			s.thing("x", nil, replaceWith(s.thing("now", nil), c))
			s.thing("before", in{"dbr": 1})
		}))
		k.change("now", func(r *state.Resource) { r.Delete = true })
		k.comesAfterDelete("x", "delete c", "delete before")
		r := k.up(program(atOnce(
			func(s *script) { s.thing("c", in{"dbr": 2}) },
			func(s *script) { s.thing("now", in{"dbr": 2}, alias(urn.Alias{Name: "before"})) },
		)))
		require.ElementsMatch(t, []string{"delete x", "delete c", "create c", "delete before", "create now", "delete now"}, r.changed())
		require.ElementsMatch(t, []string{"c", "now"}, k.names())
	})
}

// References with the old name of a provider lead to the one that this run has registered (steps.md 2.5).
func TestARenamedProviderServesWhatIsRecordedUnderItsOldName(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		_, ref := s.provider("before", in{"region": "1"})
		s.thing("a", nil, via(ref))
	}))
	r := k.up(program(func(s *script) { s.provider("now", in{"region": "2"}, alias(urn.Alias{Name: "before"})) }))
	require.Equal(t, []string{"delete a"}, r.changed())
	require.Empty(t, asked[providers.ConfigureRequest](r, "before"))
	require.Equal(t, "2", askedOnce[providers.ConfigureRequest](r, "now").Inputs.At("region").AsString())
}

// An old copy that stands in for its resource belongs to an earlier registration, which is decided, and is not a member of the closure.
func TestAnOldCopyWhoseResourceWasMadeBeforeGoesAtTheEnd(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
	k.change("b", func(r *state.Resource) { r.Delete = true })
	r := k.up(program(func(s *script) {
		s.thing("b", nil)
		s.thing("a", in{"dbr": 2})
	}))
	require.Equal(t, []string{"create b", "delete a", "create a", "delete b"}, r.changed())
	require.ElementsMatch(t, []string{"a", "b"}, k.names())
}

// Resources that are not part of the operation are shown before anything is deleted. Here each reading of the clock takes a second.
func TestWhatStaysComesBeforeTheDeletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.up(program(func(s *script) {
			for _, name := range []string{"a", "b", "c", "goes"} {
				s.thing(name, nil)
			}
		}))
		k.options.Now = func() time.Time {
			time.Sleep(time.Second)
			return time.Now()
		}
		k.options.Targeting.Targets = set(t, string(urnOf("goes")))
		r := k.try(sluice.Destroy, nil)
		require.NoError(t, r.err)
		require.Equal(t, []string{"same a", "same b", "same c", "delete goes"}, userSteps(r))
	})
}

// What waits for a decision must not take the worker that the decision needs: steps.md 3.11 asks for the decision about each of the dependents.
func TestAnyNumberOfRegistrationsMayWaitForAnEarlierOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 600 // more than a stage has workers
		k := newKit(t)
		k.up(program(func(s *script) {
			a := s.thing("a", nil)
			for i := range n {
				s.thing(fmt.Sprint("b", i), nil, dependsOn(a))
			}
		}))
		k.fake = func(f *providertest.Fake) {
			base := f.Base
			f.OnCheck = func(ctx context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
				if r.Name == "a" {
					return base.Check(ctx, r)
				}
				return providers.CheckResponse{Failures: []providers.CheckFailure{{Property: "size", Reason: "no"}}}, nil
			}
			f.OnRead = func(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
				return providers.ReadResponse{ID: r.ID, HasInputs: true}, await.For(ctx, time.Hour)
			}
		}
		var later []func(s *script)
		for i := range n {
			later = append(later, func(s *script) { s.thing(fmt.Sprint("b", i), in{"size": 2}) })
		}
		imported := func(s *script) { s.thing("a", nil, func(r *stages.RegisterRequest) { r.ImportID = "other" }) }
		r := k.try(sluice.Preview, program(atOnce(append([]func(s *script){imported}, later...)...)))
		var failed *sluice.FailedError
		require.ErrorAs(t, r.err, &failed)
		require.Len(t, failed.Err.Errors, n)
	})
}
