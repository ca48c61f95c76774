package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	"github.com/sluice-iac/sluice/urn"
)

// requireSameFailures previews a program with different latencies of each of the methods and numbers of workers. It requires that each preview has
// the same steps and diagnostics, and returns the errors.
func requireSameFailures(t *testing.T, before, p source.Func, fake func(*providertest.Fake)) (failures []string) {
	t.Helper()
	var first string
	for _, slow := range []string{"", "check a", "check b", "diff a", "diff b", "create a", "create b", "diff c"} {
		for _, workers := range []int{1, 10} {
			synctest.Test(t, func(t *testing.T) {
				k := newKitWith(t, delays(map[string]time.Duration{slow: time.Second}))
				k.options.Parallel = workers
				if before != nil {
					k.up(before)
				}
				k.fake = fake
				r := k.try(sluice.Preview, p)
				require.Error(t, r.err)
				failures = errorsOf(r)
				done := userSteps(r)
				slices.Sort(done)
				got := fmt.Sprint(done, "\n", r.err, "\n", len(failures))
				if first == "" {
					first = got
				}
				require.Equal(t, first, got, "%s, %d workers", slow, workers)
			})
		}
	}
	return failures
}

// errorsOf returns the errors of resources and of the program.
func errorsOf(r *ran) (all []string) {
	for _, d := range r.diagnostics(stages.Error) {
		if d.Message != "preview failed" {
			all = append(all, d.Message)
		}
	}
	return all
}

// separately registers resources that do not depend on each other, at once, and one after each that uses it.
func separately(inputs in, names ...string) source.Func {
	return func(ctx context.Context, m stages.Monitor) error {
		return together(len(names), func(i int) error {
			s := &script{ctx: ctx, m: m}
			made := s.thing(names[i], inputs)
			s.thing(names[i]+"-user", nil, from("of", made))
			return s.err
		})
	}
}

// isFor reports whether a request is about one of the resources.
func isFor(u urn.URN, names ...string) bool {
	for _, name := range names {
		if u.Name() == name {
			return true
		}
	}
	return false
}

func TestAPreviewShowsAllRefusedInputsWhateverTakesLonger(t *testing.T) {
	failures := requireSameFailures(t, nil, separately(in{"x": 1}, "a", "b", "c"), func(f *providertest.Fake) {
		f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
			if isFor(r.URN, "a", "b") {
				return providers.CheckResponse{Failures: []providers.CheckFailure{{Reason: "not " + r.URN.Name()}}}, nil
			}
			return providers.CheckResponse{Inputs: r.News}, nil
		}
	})
	require.Len(t, failures, 2)
}

func TestAPreviewShowsAllFailedCallsWhateverTakesLonger(t *testing.T) {
	broken := errors.New("it broke")
	for method, fake := range map[string]func(*providertest.Fake){
		"check": func(f *providertest.Fake) {
			f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
				if isFor(r.URN, "a", "b") {
					return providers.CheckResponse{}, broken
				}
				return providers.CheckResponse{Inputs: r.News}, nil
			}
		},
		"diff": func(f *providertest.Fake) {
			f.OnDiff = func(_ context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
				if isFor(r.URN, "a", "b") {
					return providers.DiffResponse{}, broken
				}
				return providers.DiffResponse{Changes: providers.DiffSome}, nil
			}
		},
		"create": func(f *providertest.Fake) {
			f.OnUpdate = func(_ context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
				if isFor(r.URN, "a", "b") {
					return providers.UpdateResponse{}, broken
				}
				return providers.UpdateResponse{Properties: r.NewInputs}, nil
			}
		},
	} {
		t.Run(method, func(t *testing.T) {
			failures := requireSameFailures(t, separately(in{"x": 1}, "a", "b", "c"), separately(in{"x": 2}, "a", "b", "c"), fake)
			require.Len(t, failures, 2)
		})
	}
}

// The error of the program is shown with those of the resources that it has registered before.
func TestAPreviewOfAProgramThatFailsShowsWhatItHasRegistered(t *testing.T) {
	failures := requireSameFailures(t, nil, func(ctx context.Context, m stages.Monitor) error {
		if err := separately(in{"x": 1}, "a", "b", "c")(ctx, m); err != nil {
			return err
		}
		return errors.New("the program gives up")
	}, func(f *providertest.Fake) {
		f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
			if isFor(r.URN, "b") {
				return providers.CheckResponse{Failures: []providers.CheckFailure{{Reason: "not b"}}}, nil
			}
			return providers.CheckResponse{Inputs: r.News}, nil
		}
	})
	require.Len(t, failures, 2)
}

// An SDK that understands no results ends its program with the first failed registration. A preview goes on.
func TestAPreviewAnswersProgramsThatUnderstandNoResults(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
			if isFor(r.URN, "a") {
				return providers.CheckResponse{Failures: []providers.CheckFailure{{Reason: "not a"}}}, nil
			}
			return providers.CheckResponse{Inputs: r.News}, nil
		}
	}
	old := func(r *stages.RegisterRequest) { r.SupportsResultReporting = false }
	var skipped *stages.RegisterReply
	r := k.try(sluice.Preview, program(func(s *script) {
		a := s.thing("a", nil, old)
		skipped = s.thing("user", nil, old, from("of", a))
		s.thing("other", nil, old)
	}))
	r.requireFailure("not a")
	require.Len(t, errorsOf(r), 1)
	require.Equal(t, stages.Success, skipped.Result)
	require.Contains(t, r.did(), "create other")
	require.NotContains(t, r.did(), "create user")
}

func TestARefusedResourceOfAPreviewIsShownBelowItsParent(t *testing.T) {
	k := newKit(t)
	var group *stages.RegisterReply
	r := k.try(sluice.Preview, program(func(s *script) {
		group = s.group("g")
		s.thing("a", in{"invalidName": "x"}, func(r *stages.RegisterRequest) { r.Parent = group.URN })
	}))
	r.requireFailure("never valid")
	require.Equal(t, group.URN, r.diagnostics(stages.Error)[0].Parent)
}

// A remote component that fails has no registration. What is below it is skipped, and does not fail for want of a parent.
func TestAPreviewGoesOnAfterARemoteComponentThatFails(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnConstruct = func(context.Context, providers.ConstructRequest) (providers.ConstructResponse, error) {
			return providers.ConstructResponse{}, errors.New("it cannot be built")
		}
	}
	r := k.try(sluice.Preview, program(func(s *script) {
		site := s.register("test:index:Site", "site", nil, func(r *stages.RegisterRequest) { r.Custom, r.Remote = false, true })
		require.NotEmpty(t, site.URN)
		s.thing("page", nil, func(r *stages.RegisterRequest) { r.Parent = site.URN })
		s.thing("other", nil)
	}))
	r.requireFailure("it cannot be built")
	require.Len(t, errorsOf(r), 1)
	require.Contains(t, r.did(), "create other")
	require.NotContains(t, r.did(), "create page")
}

// refuseConfig makes the providers of a kit refuse their configuration.
func refuseConfig(f *providertest.Fake) {
	f.OnCheckConfig = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
		return providers.CheckResponse{Failures: []providers.CheckFailure{{Property: "region", Reason: "missing"}}}, nil
	}
}

func TestAPreviewShowsTheFailureOfADefaultProviderOnceWheneverItIsNeeded(t *testing.T) {
	for name, inOrder := range map[string]bool{"one resource after the other": true, "all at once": false} {
		t.Run(name, func(t *testing.T) {
			failures := requireSameFailures(t, nil, func(ctx context.Context, m stages.Monitor) error {
				if !inOrder {
					return separately(nil, "a", "b", "c")(ctx, m)
				}
				s := &script{ctx: ctx, m: m}
				for _, name := range []string{"a", "b", "c"} {
					require.Equal(t, stages.Skip, s.thing(name, nil).Result)
				}
				require.Equal(t, stages.Skip, s.read("d", "x").Result)
				return s.err
			}, refuseConfig)
			require.Len(t, failures, 1)
		})
	}
}

// Whatever needs a provider that failed is skipped or unknown. It is no second failure.
func TestAPreviewGoesOnWithWhateverNeedsAProviderThatFailed(t *testing.T) {
	for name, provider := range map[string]func(*script) string{
		"a default one":   func(*script) string { return "" },
		"an explicit one": func(s *script) string { _, ref := s.provider("prov", nil); return ref },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.fake = refuseConfig
			r := k.try(sluice.Preview, program(func(s *script) {
				ref := provider(s)
				site := s.register("test:index:Site", "site", nil, remote, via(ref))
				require.Equal(t, stages.Skip, site.Result)
				require.Equal(t, stages.Skip, s.thing("page", nil, via(ref), parent(site)).Result)

				invoked, err := s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", Provider: ref})
				require.NoError(t, err)
				require.True(t, invoked.Unknown)
				exists, err := s.m.Exists(s.ctx, &stages.ExistsRequest{Type: "test:index:Thing", ID: property.String("x"), Provider: ref})
				require.NoError(t, err)
				require.True(t, exists.Unknown)
				require.Equal(t, stages.Success, s.group("other").Result)
				_, s.err = s.m.Call(s.ctx, &stages.CallRequest{Token: "test:index:Thing/describe", Provider: ref})
				require.ErrorIs(t, s.err, stages.ErrShutDown)
			}))
			r.requireFailure("missing")
			require.Len(t, errorsOf(r), 1)
			require.Contains(t, r.steps(), "create other")
		})
	}
}

// The registration that fails does not change what is known of the one that has the URN.
func TestADuplicateURNOfAPreviewTakesNothingFromTheFirst(t *testing.T) {
	k := newKit(t)
	k.up(program(one(nil)))
	r := k.try(sluice.Preview, program(func(s *script) {
		s.thing("a", nil)
		s.thing("a", nil)
		reply, err := s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", DependsOn: []urn.URN{urnOf("a")}})
		require.NoError(t, err)
		require.False(t, reply.Unknown)
	}))
	r.requireFailure("Duplicate resource URN")
}

func TestAPreviewGoesOnAfterADuplicateURN(t *testing.T) {
	k := newKit(t)
	r := k.try(sluice.Preview, program(func(s *script) {
		s.thing("a", nil)
		s.thing("a", nil)
		s.outputs(s.group("g"), in{"x": 1})
		s.outputs(s.group("g"), in{"x": 1})
		s.thing("b", nil)
	}))
	r.requireFailure("Duplicate resource URN")
	require.Len(t, errorsOf(r), 2)
	require.Contains(t, r.did(), "create b")
}
