package rules

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// delays makes the nth call of a method for a name take some time.
func delays(d map[string]time.Duration) providertest.Options {
	return providertest.Options{Latency: func(c providertest.Call) time.Duration {
		return d[string(c.Method)+" "+c.URN.Name()]
	}}
}

// Two roots whose closures overlap: a <- b, and both have dependents that cannot change in place. b is also a root
// itself. Whichever comparison ends first, b is deleted before a and everything is deleted once (row 32).
func TestOverlappingDeleteFirstsDeleteEverythingOnce(t *testing.T) {
	for slow, d := range map[string]map[string]time.Duration{
		"neither":     nil,
		"a's diff":    {"diff a": 5 * time.Second},
		"b's diff":    {"diff b": 5 * time.Second},
		"c's diff":    {"diff c": 5 * time.Second},
		"a's check":   {"check a": 5 * time.Second},
		"b's delete":  {"delete b": 5 * time.Second},
		"everything":  {"diff a": 3 * time.Second, "diff b": 2 * time.Second, "diff c": time.Second, "delete c": time.Second},
		"all reverse": {"diff a": time.Second, "diff b": 2 * time.Second, "diff c": 3 * time.Second},
	} {
		for _, workers := range []int{1, 10} {
			t.Run(fmt.Sprint(slow, " ", workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k := newKitWith(t, delays(d))
					k.options.Parallel = workers
					k.up(program(func(s *script) {
						b := s.thing("b", in{"dbr": 1}, from("immutableOf", s.thing("a", in{"dbr": 1})))
						s.thing("c", nil, from("immutableOf", b))
					}))
					arn := map[string]string{"b": k.recorded("b").Inputs.At("immutableOf").AsString(), "c": k.recorded("c").Inputs.At("immutableOf").AsString()}
					// The new program has no dependencies left: all three are registered at once.
					r := k.up(func(ctx context.Context, m stages.Monitor) error {
						return together(3, func(i int) error {
							name := []string{"a", "b", "c"}[i]
							time.Sleep(time.Duration(i) * time.Millisecond) // in this order
							inputs := in{"dbr": 2}
							if name == "c" {
								inputs = in{}
							}
							if name != "a" {
								inputs["immutableOf"] = arn[name]
							}
							_, err := m.Register(ctx, registration("test:index:Thing", name, inputs))
							return err
						})
					})
					done := r.changed()
					for _, n := range []string{"a", "b", "c"} {
						require.Len(t, asked[providers.DeleteRequest](r, n), 1, n)
						require.Len(t, asked[providers.CreateRequest](r, n), 1, n)
					}
					requireOrder(t, done, [2]string{"delete c", "delete b"}, [2]string{"delete b", "delete a"}, [2]string{"delete a", "create a"})
					r.requireCounts(map[stages.Op]int{stages.OpReplace: 3})
				})
			})
		}
	}
}

// Two independent roots share a dependent.
func TestDependentOfTwoDeleteFirstsIsDeletedOnce(t *testing.T) {
	for slow, d := range map[string]map[string]time.Duration{
		"neither": nil, "the first": {"diff a": 5 * time.Second}, "the second": {"diff b": 5 * time.Second}, "the probe": {"diff c": 5 * time.Second},
		"the dependent's check": {"check c": 5 * time.Second},
	} {
		t.Run(slow, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKitWith(t, delays(d))
				version := func(v int) func(ctx context.Context, m stages.Monitor) error {
					return func(ctx context.Context, m stages.Monitor) error {
						replies := make([]*stages.RegisterReply, 2)
						err := together(2, func(i int) error {
							time.Sleep(time.Duration(i) * time.Millisecond)
							var err error
							replies[i], err = m.Register(ctx, registration("test:index:Thing", []string{"a", "b"}[i], in{"dbr": v}))
							return err
						})
						if err != nil {
							return err
						}
						s := &script{ctx: ctx, m: m}
						s.thing("c", nil, from("immutableA", replies[0]), from("immutableB", replies[1]))
						return s.err
					}
				}
				k.up(version(1))
				r := k.up(version(2))
				require.Len(t, asked[providers.DeleteRequest](r, "c"), 1)
				requireOrder(t, r.changed(), [2]string{"delete c", "delete a"}, [2]string{"delete c", "delete b"}, [2]string{"create a", "create c"}, [2]string{"create b", "create c"})
				r.requireCounts(map[stages.Op]int{stages.OpReplace: 3})
			})
		})
	}
}

// The dependent no longer depends on the root and registers while the root's dependents are still being probed.
func TestDependentThatRegistersBeforeTheProbesAreAnsweredIsConsidered(t *testing.T) {
	for _, answer := range []bool{true, false} {
		t.Run(fmt.Sprint("must go: ", answer), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				property := map[bool]string{true: "immutableOf", false: "of"}[answer]
				k := newKitWith(t, providertest.Options{Latency: func(c providertest.Call) time.Duration {
					if c.Method == providers.MethodDiff && c.URN.Name() == "b" {
						return 10 * time.Second
					}
					return 0
				}})
				k.up(program(func(s *script) { s.thing("b", nil, from(property, s.thing("a", in{"dbr": 1}))) }))
				old := k.recorded("b").Inputs.At(property).AsString()
				r := k.up(func(ctx context.Context, m stages.Monitor) error {
					return together(2, func(i int) error {
						if i == 0 {
							_, err := m.Register(ctx, registration("test:index:Thing", "a", in{"dbr": 2}))
							return err
						}
						time.Sleep(time.Second)
						_, err := m.Register(ctx, registration("test:index:Thing", "b", in{property: old}))
						return err
					})
				})
				if answer {
					require.Equal(t, []string{"delete b", "delete a", "create a", "create b"}, r.changed())
				} else {
					require.Equal(t, []string{"delete a", "create a"}, r.changed())
				}
			})
		})
	}
}

// A registration that came before the root is decided by its own comparison, even if that takes longer.
func TestRegistrationBeforeTheRootIsNotDeletedByIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, delays(map[string]time.Duration{"diff b": 10 * time.Second}))
		k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
		old := k.recorded("b").Inputs.At("immutableOf").AsString()
		r := k.up(func(ctx context.Context, m stages.Monitor) error {
			return together(2, func(i int) error {
				if i == 0 {
					_, err := m.Register(ctx, registration("test:index:Thing", "b", in{"immutableOf": old}))
					return err
				}
				time.Sleep(time.Second)
				_, err := m.Register(ctx, registration("test:index:Thing", "a", in{"dbr": 2}))
				return err
			})
		})
		require.Equal(t, []string{"delete a", "create a"}, r.changed())
	})
}

func TestFailingProbeStopsBeforeAnythingIsDeleted(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(s *script) {
		return func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": v}))) }
	}
	k.up(program(version(1)))
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(ctx context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
			if r.Name == "b" {
				return providers.DiffResponse{}, errRefused
			}
			return f.Base.Diff(ctx, r)
		}
	}
	r := k.fails(program(version(2)), "finding out whether "+string(urnOf("b"))+" must be replaced with it: refused")
	require.Empty(t, r.changed())
}

// Names are claimed in the order of arrival, whatever happens later (ORD-1).
func TestNamesGoToWhoeverAsksFirst(t *testing.T) {
	for _, slowest := range []string{"first", "second"} {
		synctest.Test(t, func(t *testing.T) {
			k := newKitWith(t, delays(map[string]time.Duration{"check " + slowest: 10 * time.Second}))
			k.up(program(func(s *script) { s.thing("old", nil) }))
			r := k.fails(func(ctx context.Context, m stages.Monitor) error {
				return together(2, func(i int) error {
					time.Sleep(time.Duration(i) * time.Second)
					_, err := m.Register(ctx, registration("test:index:Thing", []string{"first", "second"}[i], nil, alias(urn.Alias{Name: "old"})))
					return err
				})
			}, "Duplicate resource alias")
			r.requireDiagnostic(stages.Error, 2008, "applied to resource with URN '"+string(urnOf("second"))+"' conflicting with resource with URN '"+string(urnOf("first"))+"'")
		})
	}
}

// A replacement is visible to every registration after its reply (ORD-2).
func TestReplacementIsKnownToWhatIsReplacedWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, delays(map[string]time.Duration{"diff a": 5 * time.Second, "create a": 5 * time.Second}))
		version := func(v int) func(s *script) {
			return func(s *script) {
				a := s.thing("a", in{"immutable": v})
				b := s.thing("b", nil, replaceWith(a))
				s.thing("c", nil, replaceWith(b))
			}
		}
		k.up(program(version(1)))
		r := k.up(program(version(2)))
		r.requireCounts(map[stages.Op]int{stages.OpReplace: 3})
	})
}

// Deletes begin only when the program has ended and all of its requests are done (ORD-7).
func TestDeletesBeginAfterEverythingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, delays(map[string]time.Duration{"update a": 10 * time.Second}))
		k.up(program(func(s *script) { s.thing("a", in{"x": 1}); s.thing("gone", nil) }))
		r := k.up(func(ctx context.Context, m stages.Monitor) error {
			return together(2, func(i int) error {
				_, err := m.Register(ctx, registration("test:index:Thing", []string{"a", "b"}[i], in{"x": 2}))
				return err
			})
		})
		require.Equal(t, "delete gone", r.changed()[len(r.changed())-1])
		var updated, deleted time.Time
		for _, e := range r.events {
			switch e := e.(type) {
			case stages.StepDone:
				if e.Step.Op == stages.OpUpdate {
					updated = e.At
				}
			case stages.StepStarted:
				if e.Step.Op == stages.OpDelete {
					deleted = e.At
				}
			}
		}
		require.False(t, deleted.Before(updated))
	})
}

// A registration fails only when none of its steps is running any more, because the program may then stop the run.
func TestFailedDeleteFirstIsAnsweredWhenItsOtherDeletesAreOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := delays(map[string]time.Duration{"delete c": 5 * time.Second})
		o.Failures = []providertest.Failure{{Method: providers.MethodDelete, Name: "b", Nth: 1}}
		k := newKitWith(t, o)
		k.options.ContinueOnError, k.options.Parallel = true, 4
		k.up(program(func(s *script) {
			a := s.thing("a", in{"dbr": 1})
			s.thing("b", nil, from("immutable", a))
			s.thing("c", nil, from("immutable", a))
		}))
		var reply *stages.RegisterReply
		var err error
		var took time.Duration
		r := k.fails(func(ctx context.Context, m stages.Monitor) error {
			began := time.Now()
			reply, err = m.Register(ctx, registration("test:index:Thing", "a", in{"dbr": 2}))
			took = time.Since(began)
			return errors.New("the program gives up")
		}, "refused to delete b")
		require.NoError(t, err)
		require.Equal(t, stages.Fail, reply.Result)
		require.Equal(t, 5*time.Second, took, "in the bubble's time")
		require.ElementsMatch(t, []string{"delete b", "delete c"}, r.changed())
		require.Equal(t, []string{"a", "b", "c (pending)"}, k.names())
	})
}
