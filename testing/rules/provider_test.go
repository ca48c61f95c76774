package rules

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func version(v string) option { return func(r *stages.RegisterRequest) { r.Package.Version = v } }

func TestNewVersionOfADefaultProviderChangesReferencesOnly(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1}, version("1.0.0"))))
	r := k.up(program(one(in{"size": 1}, version("1.2.0-beta.1"))))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 1})
	require.Contains(t, k.recorded("a").Provider, "pulumi:providers:test::default_1_2_0_beta_1::")
	require.Empty(t, k.all("default_1_0_0"))
	require.Len(t, asked[providers.DiffRequest](r, "config default_1_2_0_beta_1"), 1)
	last := r.Steps()[len(r.Steps())-1]
	for _, e := range r.events {
		if s, ok := e.(stages.StepStarted); ok {
			last = s.Step
		}
	}
	require.Equal(t, stages.OpDelete, last.Op)
	require.Equal(t, "default_1_0_0", last.URN.Name())
	require.Equal(t, "1.2.0-beta.1", k.recorded("default_1_2_0_beta_1").Inputs.At("version").AsString())
}

// A program that names no packages gets those of the recorded providers (protocol.md 4.5), also if only the place of the download is recorded.
func TestRecordedPlaceOfADownloadIsKept(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1}, func(r *stages.RegisterRequest) { r.Package.DownloadURL = "https://get.example.com" })))
	before := k.recorded("a").Provider
	require.Contains(t, before, "default_https_/get.example.com")
	r := k.up(program(one(in{"size": 2})))
	r.requireCounts(map[stages.Op]int{stages.OpUpdate: 1})
	require.Equal(t, before, k.recorded("a").Provider)
}

func TestProviderThatSaysSoHasItsResourcesReplaced(t *testing.T) {
	t.Run("default", func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(in{"size": 1}, version("1.0.0"))))
		k.fake = func(f *providertest.Fake) {
			f.OnDiffConfig = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
				return providers.DiffResponse{Changes: providers.DiffSome, ReplaceKeys: []string{"version"}}, nil
			}
		}
		r := k.up(program(one(in{"size": 1}, version("2.0.0"))))
		r.requireCounts(map[stages.Op]int{stages.OpReplace: 1})
		require.Equal(t, []string{"provider"}, r.step(stages.OpReplace, "a").Keys)
		require.Empty(t, asked[providers.DiffRequest](r, "a"))
		require.Equal(t, []string{"create a", "delete a"}, r.changed())
	})
	t.Run("explicit", func(t *testing.T) {
		k := newKit(t)
		p := func(region int) func(s *script) {
			return func(s *script) {
				_, ref := s.provider("prov", in{"immutableRegion": region})
				s.thing("a", nil, via(ref))
			}
		}
		k.up(program(p(1)))
		first := k.recorded("prov").ID
		r := k.up(program(p(2)))
		r.requireCounts(map[stages.Op]int{stages.OpReplace: 2})
		require.Equal(t, []string{"provider"}, r.step(stages.OpReplace, "a").Keys)
		require.NotEqual(t, first, k.recorded("prov").ID)
		require.Equal(t, urn.ProviderRef{URN: k.recorded("prov").URN, ID: k.recorded("prov").ID}.String(), k.recorded("a").Provider)
		require.Equal(t, []string{"delete-replaced a", "delete-replaced prov"}, r.steps()[len(r.steps())-2:])
	})
}

func TestResourceThatIsLeftWithAFormerProviderIsReplacedTheNextTime(t *testing.T) {
	for name, renamed := range map[string]bool{"same name": false, "renamed": true} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Nth: 2})
			p := func(region int, name string, with ...option) func(s *script) {
				return func(s *script) {
					_, ref := s.provider(name, in{"immutableRegion": region}, with...)
					s.thing("a", nil, via(ref))
				}
			}
			k.up(program(p(1, "prov")))
			first := k.recorded("a").Provider
			k.fails(program(p(2, "prov")), "refused to create a")
			require.Equal(t, first, k.recorded("a").Provider)
			next := p(2, "prov")
			if renamed {
				next = p(2, "other", alias(urn.Alias{Name: "prov"}))
			}
			r := k.up(program(next))
			require.Equal(t, []string{"provider"}, r.step(stages.OpReplace, "a").Keys)
			require.Equal(t, []string{"create a", "delete a"}, r.changed())
		})
	}
}

func TestExplicitProviderIsUpdatedInPlace(t *testing.T) {
	k := newKit(t)
	p := func(region int) func(s *script) {
		return func(s *script) {
			_, ref := s.provider("prov", in{"region": region})
			s.thing("a", nil, via(ref))
		}
	}
	k.up(program(p(1)))
	id := k.recorded("prov").ID
	r := k.up(program(p(2)))
	r.requireCounts(map[stages.Op]int{stages.OpUpdate: 1, stages.OpSame: 1})
	require.Equal(t, id, k.recorded("prov").ID)
	configured := askedOnce[providers.ConfigureRequest](r, "prov")
	require.Equal(t, 2.0, configured.Inputs.At("region").AsNumber())
	require.Equal(t, id, configured.ID)
	require.Equal(t, 2.0, k.recorded("prov").Outputs.At("region").AsNumber())
}

func TestProviderThatIsTheSameIsConfiguredWithItsOldInputs(t *testing.T) {
	k := newKit(t)
	p := func(v string) func(s *script) {
		return func(s *script) {
			_, ref := s.provider("prov", in{"path": v})
			s.thing("a", nil, via(ref))
		}
	}
	k.up(program(p("./a")))
	k.fake = func(f *providertest.Fake) {
		f.OnDiffConfig = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{Changes: providers.DiffNone}, nil
		}
	}
	r := k.up(program(p("a")))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 2})
	require.Equal(t, "./a", askedOnce[providers.ConfigureRequest](r, "prov").Inputs.At("path").AsString())
}

func TestDeletedFirstProviderTakesItsResourcesWithIt(t *testing.T) {
	k := newKit(t)
	p := func(v int) func(s *script) {
		return func(s *script) {
			_, ref := s.provider("prov", in{"dbrRegion": v})
			s.thing("b", nil, via(ref), dependsOn(s.thing("a", nil, via(ref))))
		}
	}
	k.up(program(p(1)))
	configured := map[int][]string{}
	k.fake = func(f *providertest.Fake) {
		var region int
		f.OnConfigure = func(ctx context.Context, r providers.ConfigureRequest) error {
			region = int(r.Inputs.At("dbrRegion").AsNumber())
			return f.Base.Configure(ctx, r)
		}
		f.OnDelete = func(ctx context.Context, r providers.DeleteRequest) error {
			configured[region] = append(configured[region], "delete "+r.Name)
			return f.Base.Delete(ctx, r)
		}
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			configured[region] = append(configured[region], "create "+r.Name)
			return f.Base.Create(ctx, r)
		}
	}
	r := k.up(program(p(2)))
	require.Equal(t, []string{
		"delete-replaced b", "delete-replaced a", "delete-replaced prov", "replace prov", "create-replacement prov",
		"replace a", "create-replacement a", "replace b", "create-replacement b",
	}, r.steps())
	require.Equal(t, map[int][]string{1: {"delete b", "delete a"}, 2: {"create a", "create b"}}, configured)
}

func TestVersionOfAProviderIsKept(t *testing.T) {
	check := func(k *kit, f func(news property.Map) property.Map) {
		k.fake = func(fake *providertest.Fake) {
			fake.OnCheckConfig = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
				return providers.CheckResponse{Inputs: f(r.News)}, nil
			}
		}
	}
	p := program(one(nil, version("1.0.0"), func(r *stages.RegisterRequest) { r.Package.DownloadURL = "https://get.example.com" }))
	t.Run("dropped by Check, restored", func(t *testing.T) {
		k := newKit(t)
		check(k, func(m property.Map) property.Map { return m.Without("version") })
		k.up(p)
		const name = "default_1_0_0_https_/get.example.com"
		require.Equal(t, "1.0.0", k.recorded(name).Inputs.At("version").AsString())
		inner := k.recorded(name).Inputs.At("__internal").AsMap()
		require.Equal(t, "https://get.example.com", inner.At("pluginDownloadURL").AsString())
		_, has := k.recorded(name).Outputs.Get("__internal")
		require.False(t, has)
	})
	t.Run("changed by Check, refused", func(t *testing.T) {
		k := newKit(t)
		check(k, func(m property.Map) property.Map { return m.With("version", property.String("9.0.0")) })
		k.fails(p, `attempted to change version from "1.0.0" to "9.0.0"`)
	})
	t.Run("a key of the engine's own is not taken", func(t *testing.T) {
		k := newKit(t)
		check(k, func(m property.Map) property.Map { return m.With("__internal", property.String("mine")) })
		k.up(p).requireDiagnostic(stages.Warning, 0, "the provider returned a property \"__internal\", which is reserved for the engine")
		require.True(t, k.recorded("default_1_0_0_https_/get.example.com").Inputs.At("__internal").IsMap())
	})
	t.Run("never shown to the provider", func(t *testing.T) {
		k := newKit(t)
		r := k.up(p)
		for _, q := range r.requests {
			switch body := q.body.(type) {
			case providers.CheckRequest:
				_, has := body.News.Get("__internal")
				require.False(t, has)
			case providers.ConfigureRequest:
				_, has := body.Inputs.Get("__internal")
				require.False(t, has)
			}
		}
	})
}

func TestDeniedDefaultProviders(t *testing.T) {
	denied := func(list string) *kit {
		k := newKit(t)
		k.options.Config = sluice.Config{"pulumi:disable-default-providers": {Text: list}}
		return k
	}
	for _, list := range []string{`["test"]`, `["*"]`, `["other", "test"]`} {
		r := denied(list).fails(program(one(nil)), "disabled")
		r.requireDiagnostic(stages.Error, 2015, "Default provider for 'test' disabled. '"+string(urnOf("a"))+"' must use an explicit provider.")
		require.Empty(t, r.calls)
	}
	k := denied(`["*"]`)
	k.options.StackOutputs = func(context.Context, string) (property.Map, error) { return property.Map{}, nil }
	k.up(program(func(s *script) {
		_, ref := s.provider("prov", nil)
		s.thing("a", nil, via(ref))
		s.read("other", "o/p/s", func(r *stages.ReadRequest) {
			r.Type, r.Properties = "pulumi:pulumi:StackReference", values(in{"name": "o/p/s"})
		})
	}))
	denied(`["other"]`).up(program(one(nil)))
}

func TestUnknownAndMalformedProvidersAreRefused(t *testing.T) {
	k := newKit(t)
	unknown := urn.ProviderRef{URN: urn.New("dev", "p", "", "pulumi:providers:test", "nobody"), ID: "id"}.String()
	k.fails(program(one(nil, via(unknown))), "unknown provider").requireDiagnostic(stages.Error, 2007,
		"unknown provider '"+unknown+"' for resource '"+string(urnOf("a"))+"'")
	k.fails(program(one(nil, via("nonsense"))), "bad provider reference").requireDiagnostic(stages.Error, 2006, "bad provider reference 'nonsense'")
}

func TestRecordedProviderThatIsNamedAndNotRegisteredIsStartedAndKept(t *testing.T) {
	k := newKit(t)
	var ref string
	k.up(program(func(s *script) {
		_, ref = s.provider("prov", in{"region": "r"})
		s.thing("a", nil, via(ref))
	}))
	r := k.up(program(one(in{"new": 1}, via(ref))))
	require.Equal(t, []string{"update a"}, r.changed())
	require.Equal(t, []string{"prov", "a"}, k.names())
	require.Equal(t, "r", askedOnce[providers.ConfigureRequest](r, "prov").Inputs.At("region").AsString())
}

// The provider and its dependencies stay, whatever has started it, including an import and a refresh.
func TestRecordedProviderThatIsNamedIsKeptByWhateverUsesIt(t *testing.T) {
	thing := func(name string, v int, with ...option) func(*script, string) {
		return func(s *script, ref string) { s.thing(name, in{"x": v}, append(with, via(ref))...) }
	}
	for name, c := range map[string]struct {
		refresh bool
		do      func(s *script, ref string)
		names   []string
	}{
		"update":                {false, thing("a", 2), []string{"x", "prov", "a"}},
		"refresh and update":    {true, thing("a", 2), []string{"x", "prov", "a"}},
		"import":                {false, thing("a", 1, imports("ext-1")), []string{"x", "prov", "a"}},
		"import of another one": {false, thing("b", 1, imports("ext-1")), []string{"x", "prov", "b"}},
		"import and update":     {false, thing("b", 2, imports("ext-1")), []string{"x", "prov", "b"}},
		"read": {false, func(s *script, ref string) {
			s.read("b", "ext-1", func(r *stages.ReadRequest) { r.Provider = ref })
		}, []string{"x", "prov", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.exists("ext-1", in{"x": 1})
			var ref string
			k.up(program(func(s *script) {
				x := s.thing("x", nil)
				_, ref = s.provider("prov", nil, dependsOn(x))
				s.thing("a", in{"x": 1}, via(ref))
			}))
			k.options.Refresh, k.options.RunProgram = c.refresh, c.refresh
			r := k.try(sluice.Update, program(func(s *script) { c.do(s, ref) }))
			require.NoError(t, r.err)
			require.Equal(t, c.names, k.names())
			require.Equal(t, stages.ReasonCarriedForward, r.Why(urnOf("x")).Links[0].Reason)
		})
	}
}

// An unregistered provider that several resources use is kept for the first of them by name, whichever registers first.
func TestWhatAProviderIsKeptForDoesNotDependOnWhoComesFirst(t *testing.T) {
	k := newKit(t)
	var ref string
	k.up(program(func(s *script) {
		_, ref = s.provider("prov", nil)
		s.thing("a", nil, via(ref))
		s.thing("b", nil, via(ref))
	}))
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		r := k.preview(program(func(s *script) {
			for _, name := range order {
				s.thing(name, nil, via(ref))
			}
		}))
		l := r.Why(r.Decisions().Find("prov")[0]).Links[0]
		require.Equal(t, stages.ReasonCarriedForward, l.Reason)
		require.Equal(t, urnOf("a"), l.Cause, order)
	}
}

func TestOneDefaultProviderServesAllWhoAskAtOnce(t *testing.T) {
	k := newKit(t)
	k.up(func(ctx context.Context, m stages.Monitor) error {
		return together(30, func(i int) error {
			_, err := m.Register(ctx, registration("test:index:Thing", string(rune('a'+i)), nil))
			return err
		})
	})
	require.Len(t, k.cloud.Loads(), 1)
	require.Len(t, k.all("default"), 1)
	require.Equal(t, 1, k.cloud.Count(providertest.MethodConfigure))
}

// callers are the requests, other than registrations and reads, that may be the first to need the default provider of the package test.
var callers = map[string]func(context.Context, stages.Monitor) error{
	"a function": func(ctx context.Context, m stages.Monitor) error {
		_, err := m.Invoke(ctx, &stages.InvokeRequest{Token: "test:index:echo"})
		return err
	},
	"a question whether an object exists": func(ctx context.Context, m stages.Monitor) error {
		_, err := m.Exists(ctx, &stages.ExistsRequest{Type: "test:index:Thing", ID: property.String("x")})
		return err
	},
	"a method": func(ctx context.Context, m stages.Monitor) error {
		_, err := m.Call(ctx, &stages.CallRequest{Token: "test:index:Thing/describe"})
		return err
	},
}

// The registration of a default provider belongs to the run, and not to the request that was the first to need it.
func TestADefaultProviderIsMadeOnceAlthoughTheFirstToNeedItLeaves(t *testing.T) {
	for name, ask := range callers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t)
				checking, goOn := await.NewEvent(), await.NewEvent()
				k.fake = func(f *providertest.Fake) {
					f.OnCheckConfig = func(ctx context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
						checking.Fire()
						return providers.CheckResponse{Inputs: r.News}, goOn.Wait(ctx)
					}
				}
				k.up(func(ctx context.Context, m stages.Monitor) error {
					register := func(name string) error {
						_, err := m.Register(ctx, registration("test:index:Thing", name, nil))
						return err
					}
					leaving, leave := context.WithCancel(ctx)
					defer leave()
					requests := pool.New().WithErrors()
					var first error
					requests.Go(func() error { first = ask(leaving, m); return nil })
					require.NoError(t, checking.Wait(ctx))
					requests.Go(func() error { return register("before it leaves") })
					synctest.Wait()
					leave()
					synctest.Wait()
					require.ErrorIs(t, first, context.Canceled)
					requests.Go(func() error { return register("after it has left") })
					synctest.Wait()
					goOn.Fire()
					return errors.Join(requests.Wait(), register("after the provider is made"))
				})
				require.Len(t, k.names(), 3)
				require.Len(t, k.all("default"), 1)
				require.Equal(t, 1, k.cloud.Count(providertest.MethodConfigure))
			})
		})
	}
}

func TestConfigurationOfThePackageIsThatOfItsDefaultProvider(t *testing.T) {
	k := newKit(t)
	k.options.Config = sluice.Config{
		"test:region": {Text: "here"}, "test:token": {Text: "t", Secret: true}, "other:region": {Text: "there"}, "p:region": {Text: "nowhere"},
	}
	k.up(program(one(nil)))
	want := values(in{"region": "here", "token": secret("t")})
	require.True(t, property.EqualMaps(want, k.recorded("default").Inputs))
}

func TestUnknownConfigurationInAPreviewKeepsThePluginOut(t *testing.T) {
	k := newKit(t)
	p := func(v int) func(s *script) {
		return func(s *script) {
			source := s.thing("source", in{"immutable": v})
			_, ref := s.provider("prov", nil, from("region", source))
			s.thing("a", in{"size": v}, via(ref))
			reply, err := s.m.Invoke(s.ctx, &stages.InvokeRequest{Token: "test:index:echo", Args: values(in{"x": 1}), Provider: ref})
			if err != nil {
				s.err = err
			} else if s.m.Info().DryRun && reply.Return.Len() != 0 {
				s.err = errRefused
			}
		}
	}
	r := k.preview(program(p(1)))
	require.NotContains(t, r.did(), "create a")
	require.NotContains(t, r.did(), "check a")
	r.requireCounts(map[stages.Op]int{stages.OpCreate: 3})

	k.up(program(p(1)))
	r = k.preview(program(p(2)))
	require.NotContains(t, r.did(), "diff a")
	r.requireDiagnostic(stages.Warning, 0, "the configuration of this resource's provider is not known during the preview")
	require.Equal(t, 1, r.Changes[stages.OpUpdate]-1, "a and prov: %v", r.Changes)
}

func TestFailedConfigureFailsTheUpdate(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnConfigure = func(context.Context, providers.ConfigureRequest) error { return errRefused }
	}
	r := k.fails(program(one(nil)), "refused")
	require.NotContains(t, r.did(), "create a")
}

func TestFailedConfigureOfAProviderThatNobodyUsesIsAWarning(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnConfigure = func(_ context.Context, r providers.ConfigureRequest) error {
			if r.Name == "idle" {
				return errRefused
			}
			return nil
		}
	}
	r := k.up(program(func(s *script) { s.provider("idle", nil); s.thing("a", nil) }))
	r.requireDiagnostic(stages.Warning, 0, `configure provider "idle"`)
	r.requireDiagnostic(stages.Warning, 0, "nothing used this provider")
	require.Equal(t, stages.Succeeded, r.summary().Result)
}

func TestProviderThatCannotBeStartedFailsTheUpdate(t *testing.T) {
	k := newKit(t)
	k.options.Providers = providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) { return nil, errRefused })
	k.fails(program(one(nil)), "refused")
}

// inRegion declares a provider, which is replaced in another region, and a resource of it.
func inRegion(region int) func(*script) {
	return func(s *script) {
		_, ref := s.provider("prov", in{"immutableRegion": region})
		s.thing("a", nil, via(ref))
	}
}

// withOldCopyOfProvider returns a stack whose provider was replaced before the resource a was, and the reference of the old copy, which a still has.
func withOldCopyOfProvider(t *testing.T) (k *kit, old string) {
	t.Helper()
	k = newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Nth: 2})
	k.up(program(inRegion(1)))
	k.fails(program(inRegion(2)), "refused to create a")
	return k, k.recorded("a").Provider
}

// A provider that has been replaced awaits its deletion while it still has resources. What is recorded with it would have no provider afterwards, also if it is
// running for those resources.
func TestTheOldCopyOfAProviderIsNoProviderOfARegistrationOrARead(t *testing.T) {
	uses := map[string]func(s *script, old string){
		"create": func(s *script, old string) { s.thing("c", nil, via(old)) },
		"read":   func(s *script, old string) { s.read("c", "x", func(q *stages.ReadRequest) { q.Provider = old }) },
	}
	for name, use := range uses {
		for _, refresh := range []bool{false, true} {
			k, old := withOldCopyOfProvider(t)
			k.exists("x", nil)
			k.options.Refresh = refresh
			k.fails(program(func(s *script) { use(s, old) }), "unknown provider '"+old+"' for resource '"+string(urnOf("c"))+"'")
			require.Equal(t, []string{"prov", "prov (delete)", "a"}, k.names(), "%s, refresh %v", name, refresh)
			k.options.Refresh = false
			k.up(program(inRegion(2)))
			require.Equal(t, []string{"prov", "a"}, k.names())
		}
	}
}

// What is not a target may name the old copy of a provider, as it is recorded. That says nothing about the provider that has the name now.
func TestAnOldCopyOfAProviderThatNoTargetNamesStaysAsItIs(t *testing.T) {
	k, old := withOldCopyOfProvider(t)
	k.options.Targeting.Targets = set(t, string(urnOf("c")))
	r := k.try(sluice.Update, program(func(s *script) {
		s.thing("a", nil, via(old))
		s.thing("c", nil)
	}))
	require.NoError(t, r.err)
	require.Equal(t, []string{"same a", "create c", "same prov"}, r.steps())
	require.Equal(t, []string{"prov", "prov (delete)", "a", "c"}, k.names())
}

func TestAVersionWithAndWithoutVIsOneDefaultProvider(t *testing.T) {
	k := newKit(t)
	version := func(v string) option { return func(r *stages.RegisterRequest) { r.Package.Version = v } }
	k.up(program(func(s *script) {
		s.thing("a", nil, version("1.0.0"))
		s.thing("b", nil, version("v1.0.0"))
	}))
	require.Equal(t, k.recorded("a").Provider, k.recorded("b").Provider)
}
