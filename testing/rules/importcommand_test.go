package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// thingToImport returns a request to import a thing.
func thingToImport(name, id string, with ...func(*stages.ImportRequest)) stages.ImportRequest {
	q := stages.ImportRequest{Type: "test:index:Thing", Name: name, ID: id}
	for _, o := range with {
		o(&q)
	}
	return q
}

func groupToImport(name string, with ...func(*stages.ImportRequest)) stages.ImportRequest {
	with = append(with, func(q *stages.ImportRequest) { q.Type, q.Component = "test:index:Group", true })
	return thingToImport(name, "", with...)
}

func importing(requests ...stages.ImportRequest) operation {
	return func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		return sluice.Import(ctx, o, requests...)
	}
}

func (k *kit) imports(requests ...stages.ImportRequest) *ran {
	k.t.Helper()
	out := k.try(importing(requests...), nil)
	require.NoError(k.t, out.err)
	return out
}

// refusesImport runs an import that is refused before it has an effect.
func (k *kit) refusesImport(text string, requests ...stages.ImportRequest) {
	k.t.Helper()
	before := k.state.Snapshot()
	out := k.try(importing(requests...), nil)
	require.ErrorContains(k.t, out.err, text)
	require.Empty(k.t, out.calls)
	require.Same(k.t, before, k.state.Snapshot())
}

func TestAnImportRecordsWhatTheProviderReads(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1, "color": "red"})
	r := k.imports(thingToImport("a", "ext-1", func(q *stages.ImportRequest) { q.Protect = true }))
	require.Equal(t, []string{"create p-dev", "import a"}, r.steps())
	require.Equal(t, []string{"read a", "check a"}, r.did())
	r.requireCounts(map[stages.Op]int{stages.OpCreate: 1, stages.OpImport: 1})

	a := k.recorded("a")
	require.Equal(t, "ext-1", a.ID)
	require.Empty(t, a.ImportID, "the program that follows says nothing of an import")
	require.True(t, a.Protect)
	require.Equal(t, values(in{"size": 1, "color": "red"}), a.Inputs)
	require.Equal(t, urn.RootStack("dev", "p"), a.Parent)
	require.False(t, a.Created.IsZero())
	require.Equal(t, a.Created, a.Modified)
	read := askedOnce[providers.ReadRequest](r, "a")
	require.False(t, read.Known, "only the ID is known")
	check := askedOnce[providers.CheckRequest](r, "a")
	require.Equal(t, a.Inputs, check.Olds)
	require.Equal(t, a.Inputs, check.News)
	require.Len(t, check.RandomSeed, 32)
}

func TestAnImportedResourceIsUnchangedInTheProgramThatDeclaresIt(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	k.imports(thingToImport("a", "ext-1"))
	k.foreign = nil
	r := k.up(program(func(s *script) {
		stack := s.stack()
		s.thing("a", in{"size": 1}, parent(stack))
	}))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 2})
}

func TestAPreviewOfAnImportReadsAndRecordsNothing(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	r := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		return sluice.PreviewImport(ctx, o, thingToImport("a", "ext-1"))
	}, nil)
	require.NoError(t, r.err)
	require.Equal(t, []string{"read a", "check a"}, r.did())
	require.True(t, askedOnce[providers.CheckRequest](r, "a").AllowUnknowns)
	require.Equal(t, values(in{"size": 1}), r.step(stages.OpImport, "a").New.Inputs)
	require.Nil(t, k.state.Snapshot())
}

func TestAnImportKeepsEverythingThatIsRecorded(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		stack := s.stack()
		a := s.thing("a", in{"size": 1}, parent(stack))
		s.thing("b", nil, parent(stack), dependsOn(a))
	}))
	before := k.state.Snapshot().Resources
	k.exists("ext-1", in{"size": 1})
	r := k.imports(thingToImport("c", "ext-1"))
	require.Equal(t, []string{"same p-dev", "same a", "same b", "import c"}, r.steps())
	r.requireCounts(map[stages.Op]int{stages.OpSame: 3, stages.OpImport: 1})
	after := k.state.Snapshot().Resources
	require.Equal(t, before, slices.DeleteFunc(slices.Clone(after), func(r *state.Resource) bool { return r.URN.Name() == "c" }))
	require.Equal(t, k.recorded("a").Provider, k.recorded("c").Provider, "the recorded default provider is used")
}

func TestWhatIsImportedAlreadyIsPassedOver(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	k.imports(thingToImport("a", "ext-1"))
	before := k.state.Snapshot()
	r := k.imports(thingToImport("a", "ext-1"))
	require.Empty(t, r.did())
	r.requireCounts(map[stages.Op]int{stages.OpSame: 2})
	require.Equal(t, before.Resources, k.state.Snapshot().Resources)
}

func TestAnImportOfATakenURNFails(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", nil)
	k.exists("ext-2", nil)
	k.imports(thingToImport("a", "ext-1"))
	before := k.state.Snapshot().Resources
	r := k.try(importing(thingToImport("a", "ext-2")), nil)
	r.requireFailure("resource '" + string(urnOf("a")) + "' already exists")
	require.Equal(t, before, k.state.Snapshot().Resources)
}

func TestAnImportThatFailsKeepsOnlyItsChildrenFromBeingImported(t *testing.T) {
	k := newKit(t)
	k.exists("ext-2", in{"size": 2})
	k.exists("ext-3", in{"size": 3})
	child := func(q *stages.ImportRequest) { q.Parent = urnOf("a") }
	r := k.try(importing(thingToImport("a", "nosuch"), thingToImport("b", "ext-2", child), thingToImport("c", "ext-3")), nil)
	r.requireFailure("resource 'nosuch' does not exist")
	require.NotContains(t, r.err.Error(), "unknown parent", "what was not tried is no second error")
	require.Equal(t, []string{"p-dev", "c"}, k.names())
	r.requireDiagnostic(stages.Info, 0, "not imported")
}

func TestParentsAreImportedBeforeTheirChildren(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", nil)
	group := urn.New("dev", "p", "", "test:index:Group", "g")
	r := k.imports(
		thingToImport("a", "ext-1", func(q *stages.ImportRequest) { q.Parent = group }),
		groupToImport("g", func(q *stages.ImportRequest) { q.Inputs = values(in{"note": "x"}) }),
	)
	require.Equal(t, []string{"create p-dev", "import g", "import a"}, r.steps())
	require.Equal(t, group, k.recorded("a").Parent)
	require.Equal(t, group.Child("test:index:Thing", "a"), k.recorded("a").URN)
	g := k.recorded("g")
	require.False(t, g.Custom)
	require.Empty(t, g.Provider)
	require.Equal(t, values(in{"note": "x"}), g.Inputs)
}

func TestAParentThatIsNotThereIsUnknown(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", nil)
	r := k.try(importing(thingToImport("a", "ext-1", func(q *stages.ImportRequest) { q.Parent = urnOf("nobody") })), nil)
	r.requireFailure("unknown parent '" + string(urnOf("nobody")) + "' for resource '")
	require.Empty(t, r.did(), "nothing is read in vain")
}

func TestImportsWaitForNobodyButTheirParents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, providertest.Options{Latency: func(c providertest.Call) time.Duration {
			if c.Method == providers.MethodRead && c.URN.Name() == "slow" {
				return time.Hour
			}
			return time.Second
		}})
		for _, id := range []string{"ext-1", "ext-2", "ext-3", "ext-4"} {
			k.exists(id, nil)
		}
		r := k.imports(
			thingToImport("slow", "ext-1"), thingToImport("a", "ext-2"),
			thingToImport("b", "ext-3", func(q *stages.ImportRequest) { q.Parent = urnOf("a") }),
			thingToImport("c", "ext-4", func(q *stages.ImportRequest) { q.Parent = urnOf("a").Child("test:index:Thing", "b") }),
		)
		var done []string
		for _, e := range r.events {
			if d, ok := e.(stages.StepDone); ok && d.Step.Op == stages.OpImport {
				done = append(done, d.Step.URN.Name())
			}
		}
		require.Equal(t, []string{"a", "b", "c", "slow"}, done, "what is below a does not wait for slow")
	})
}

func TestSuppliedInputsFillWhatTheProviderDoesNotTell(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1, "token": "t", "note": nil})
	k.imports(thingToImport("a", "ext-1", func(q *stages.ImportRequest) {
		q.Inputs = values(in{"size": 9, "password": secret("p"), "note": "n", "token": secret("other")})
	}))
	require.Equal(t, values(in{"size": 1, "token": secret("t"), "note": "n", "password": secret("p")}), k.recorded("a").Inputs)
}

func TestSuppliedOutputsAreTrusted(t *testing.T) {
	k := newKit(t)
	r := k.imports(thingToImport("a", "ext-1", func(q *stages.ImportRequest) {
		q.Inputs, q.Outputs = values(in{"size": 1}), values(in{"size": 1, "arn": "x"})
	}))
	require.Equal(t, []string{"check a"}, r.did())
	a := k.recorded("a")
	require.Equal(t, "ext-1", a.ID)
	require.Equal(t, values(in{"size": 1}), a.Inputs)
	require.Equal(t, values(in{"size": 1, "arn": "x"}), a.Outputs)
}

func TestOnlyTheNamedPropertiesAreKept(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1, "color": "red", "note": "n"})
	r := k.imports(thingToImport("a", "ext-1", func(q *stages.ImportRequest) { q.Properties = []string{"size", "note", "nosuch"} }))
	require.Equal(t, values(in{"size": 1, "note": "n"}), k.recorded("a").Inputs)
	check := askedOnce[providers.CheckRequest](r, "a")
	require.Equal(t, values(in{"size": 1, "color": "red", "note": "n"}), check.Olds)
	require.Equal(t, k.recorded("a").Inputs, check.News)
}

func TestInputsThatTheProviderRefusesAreAWarning(t *testing.T) {
	for name, c := range map[string]struct {
		properties []string
		advice     string
	}{
		"all properties":  {nil, "This is almost certainly a bug in the `test` provider."},
		"some properties": {[]string{"invalidSize"}, "Try specifying a different set of properties to import with in the future."},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.exists("ext-1", in{"invalidSize": 1})
			r := k.imports(thingToImport("a", "ext-1", func(q *stages.ImportRequest) { q.Properties = c.properties }))
			r.requireDiagnostic(stages.Warning, 0, "One or more imported inputs failed to validate. "+c.advice+" The import will still proceed")
			r.requireDiagnostic(stages.Warning, 2003, "property invalidSize value {1} has a problem")
			require.Equal(t, "ext-1", k.recorded("a").ID)
		})
	}
}

func TestARecordedExplicitProviderReadsWhatIsImported(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.provider("mine", in{"region": "r"}, parent(s.stack())) }))
	k.exists("ext-1", nil)
	mine := k.recorded("mine")
	r := k.imports(thingToImport("a", "ext-1", func(q *stages.ImportRequest) { q.Provider = mine.URN }))
	require.Equal(t, []string{"same p-dev", "same mine", "import a"}, r.steps())
	require.Equal(t, urn.ProviderRef{URN: mine.URN, ID: mine.ID}.String(), k.recorded("a").Provider)
}

func TestMissingExplicitProvidersAreMadeFromTheirOwnEntry(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", nil)
	mine := urn.New("dev", "p", "", "pulumi:providers:test", "mine")
	other := urn.New("dev", "p", "", "pulumi:providers:test", "other")
	r := k.imports(
		thingToImport("a", "ext-1", func(q *stages.ImportRequest) {
			q.Provider, q.ProviderInputs = mine, values(in{"region": "ignored"})
		}),
		thingToImport("b", "ext-1", func(q *stages.ImportRequest) {
			q.Provider, q.ProviderInputs = other, values(in{"region": "legacy"})
		}),
		stages.ImportRequest{Type: "pulumi:providers:test", Name: "mine", Inputs: values(in{"region": "own"})},
	)
	require.Equal(t, values(in{"region": "own"}), k.recorded("mine").Inputs)
	require.Equal(t, values(in{"region": "legacy"}), k.recorded("other").Inputs)
	r.requireCounts(map[stages.Op]int{stages.OpCreate: 3, stages.OpImport: 2})
	require.Equal(t, urn.ProviderRef{URN: mine, ID: k.recorded("mine").ID}.String(), k.recorded("a").Provider)
}

func TestTheInputsOfAnImportedProviderMaySayWhichPluginItNeeds(t *testing.T) {
	k := newKit(t)
	inputs := providers.Spec{Version: "2.0.0", DownloadURL: "https://example.com", Environment: map[string]string{"A": "B"}}.Inputs(values(in{"region": "r"}))
	k.imports(stages.ImportRequest{Type: "pulumi:providers:test", Name: "mine", Inputs: inputs})
	require.Equal(t, inputs, k.recorded("mine").Inputs)
	k.imports(stages.ImportRequest{Type: "pulumi:providers:test", Name: "other", Inputs: inputs, Package: stages.Package{Version: "3.0.0"}})
	require.Equal(t, "3.0.0", k.recorded("other").Inputs.At("version").AsString())
}

func TestDefaultProvidersOfImportsAreConfiguredAsInPrograms(t *testing.T) {
	k := newKit(t)
	k.options.Config = sluice.Config{"test:region": {Text: "r"}}
	k.exists("ext-1", nil)
	k.imports(thingToImport("a", "ext-1", func(q *stages.ImportRequest) { q.Package.Version = "1.2.3" }))
	provider := k.recorded("default_1_2_3")
	require.Equal(t, values(in{"region": "r", "version": "1.2.3", "__internal": in{}}), provider.Inputs)
	require.Empty(t, provider.Parent)
}

func TestAProviderThatRefusesItsConfigurationStopsTheImport(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCheckConfig = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{Failures: []providers.CheckFailure{{Property: "region", Reason: "is missing"}}}, nil
		}
	}
	k.exists("ext-1", nil)
	r := k.try(importing(thingToImport("a", "ext-1")), nil)
	r.requireFailure("provider check failed")
	r.requireDiagnostic(stages.Error, 2003, "is missing")
	require.Nil(t, k.state.Snapshot(), "nothing is made, not even the stack")

	mine := urn.New("dev", "p", "", "pulumi:providers:test", "mine")
	r = k.try(importing(thingToImport("a", "ext-1", func(q *stages.ImportRequest) { q.Provider = mine })), nil)
	r.requireFailure("explicit provider check failed for " + string(mine))

	k.fake = func(f *providertest.Fake) {
		f.OnCheckConfig = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{}, errRefused
		}
	}
	k.try(importing(thingToImport("a", "ext-1")), nil).requireFailure("failed to validate provider config: ")
}

func TestAnImportThatFailsToBeCheckedIsNotRecorded(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{}, errors.New("no check today")
		}
	}
	k.exists("ext-1", nil)
	k.try(importing(thingToImport("a", "ext-1")), nil).requireFailure("no check today")
	require.Empty(t, k.all("a"))
}

func TestADisabledDefaultProviderImportsNothing(t *testing.T) {
	k := newKit(t)
	k.options.Config = sluice.Config{"pulumi:disable-default-providers": {Text: `["test"]`}}
	k.exists("ext-1", nil)
	k.try(importing(thingToImport("a", "ext-1")), nil).requireFailure("Default provider for 'test' disabled. 'a' must use an explicit provider.")
	require.Nil(t, k.state.Snapshot())
}

func TestImportsThatMakeNoSenseAreRefusedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		request stages.ImportRequest
		text    string
	}{
		"a component with an ID": {groupToImport("g", func(q *stages.ImportRequest) { q.ID = "x" }), "import g cannot specify an ID as it's a component"},
		"a malformed type": {thingToImport("a", "x", func(q *stages.ImportRequest) { q.Type = "Thing" }),
			`import type "Thing" is not a valid resource type token. Type tokens must be of the format <package>:<module>:<type>`},
		"no type":               {thingToImport("a", "x", func(q *stages.ImportRequest) { q.Type = "" }), `import type "" is not a valid`},
		"no name":               {thingToImport("", "x"), "has no name"},
		"no ID":                 {thingToImport("a", ""), `import a of type "test:index:Thing" has no ID`},
		"a provider with an ID": {stages.ImportRequest{Type: "pulumi:providers:test", Name: "p", ID: "x"}, "a provider, which is created rather than read"},
		"a parent that is none": {thingToImport("a", "x", func(q *stages.ImportRequest) { q.Parent = "nobody" }), `the parent "nobody" is not a URN`},
		"a provider that is none": {thingToImport("a", "x", func(q *stages.ImportRequest) { q.Provider = urnOf("b") }),
			`imported provider URN "` + string(urnOf("b")) + `" is not a provider type`},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.refusesImport(c.text, c.request)
		})
	}
	k := newKit(t)
	k.try(importing(thingToImport("a", "x", func(q *stages.ImportRequest) { q.Provider = urn.New("prod", "p", "", "pulumi:providers:test", "mine") })), nil).
		requireFailure("belongs to another stack")
	require.Nil(t, k.state.Snapshot())
	k = newKit(t)
	k.refusesImport("duplicate import 'a' of type 'test:index:Thing'", thingToImport("a", "x"), thingToImport("a", "y"))
}

func TestAnImportOfNothingChangesNothing(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1, "color": "red"})
	k.imports()
	require.Empty(t, k.state.Snapshot().Resources, "not even the stack")
	k.imports(thingToImport("a", "ext-1"))
	before := k.state.Snapshot()
	k.imports()
	require.Equal(t, before.Resources, k.state.Snapshot().Resources)
}

func TestExtensionsOfImportsAreAppliedOnceBeforeTheirResources(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", nil)
	k.exists("ext-2", nil)
	extended := func(name, id string) stages.ImportRequest {
		return thingToImport(name, id, func(q *stages.ImportRequest) {
			q.Type, q.Package.Name = "x:index:Thing", "test"
			q.Package.Extension = &stages.Parameterization{Name: "x", Version: "1.0.0", Value: []byte("blob")}
		})
	}
	r := k.imports(extended("a", "ext-1"), extended("b", "ext-2"))
	require.Equal(t, []string{"x"}, r.parameterized())
	require.Contains(t, k.recorded("a").Provider, "pulumi:providers:test::default")
	require.Contains(t, k.state.Snapshot().Extensions, k.recorded("a").ExtensionRef)
	require.Equal(t, k.recorded("a").ExtensionRef, k.recorded("b").ExtensionRef)
}

func TestAnInterruptedImportKeepsWhatWasImported(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", nil)
	k.exists("ext-2", nil)
	var interrupts sluice.Interrupts
	k.options.Interrupts, k.options.Parallel = &interrupts, 1
	k.options.Observe = func(e stages.Event) {
		if d, ok := e.(stages.StepDone); ok && d.Step.URN.Name() == "a" {
			interrupts.Stop()
		}
	}
	r := k.try(importing(thingToImport("a", "ext-1"), thingToImport("b", "ext-2")), nil)
	var failed *sluice.FailedError
	require.ErrorAs(t, r.err, &failed)
	require.True(t, failed.Canceled)
	require.Equal(t, []string{"p-dev", "a"}, k.names())
}

func TestAnImportDoesNotDependOnTiming(t *testing.T) {
	var want string
	for seed := range uint64(12) {
		for _, workers := range []int{1, 2, 64} {
			synctest.Test(t, func(t *testing.T) {
				k := newKitWith(t, providertest.Options{Seed: seed, MaxLatency: time.Minute})
				k.options.Parallel = workers
				k.options.Now = func() time.Time { return time.Unix(0, 0) }
				var requests []stages.ImportRequest
				for i := range 12 {
					name, id := fmt.Sprintf("t%02d", i), fmt.Sprintf("ext-%02d", i)
					if i%5 != 4 { // every fifth does not exist
						k.exists(id, in{"size": i})
					}
					requests = append(requests, thingToImport(name, id, func(q *stages.ImportRequest) {
						if i%3 != 0 {
							q.Parent = requests[i-1].URN("dev", "p")
						}
						if i%4 == 0 {
							q.Provider = urn.New("dev", "p", "", "pulumi:providers:test", fmt.Sprintf("mine%d", i%8))
						}
					}))
				}
				r := k.try(importing(requests...), nil)
				require.Error(t, r.err)
				got := r.err.Error()
				for _, s := range r.Steps() {
					got += fmt.Sprintf("\n%s %s %s", s.Op, s.URN, s.Provider)
				}
				for _, s := range k.state.Snapshot().Resources {
					got += fmt.Sprintf("\n%s %s %s %s", s.URN, s.ID, s.Parent, s.Provider)
				}
				if want == "" {
					want = got
				}
				require.Equal(t, want, got, "seed %d, %d workers", seed, workers)
			})
		}
	}
}

func TestAnImportBeginsAfterTheRootStackIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.exists("ext-1", in{"size": 1})
		var read atomic.Bool
		k.fake = func(f *providertest.Fake) {
			base := f.Base
			f.OnRead = func(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
				read.Store(true)
				return base.Read(ctx, r)
			}
		}
		early := true
		k.options.State = &watchedState{MemoryState: k.state, onEnd: func(c state.Change) error {
			if c.Add != nil && c.Add.URN == urn.RootStack("dev", "p") {
				time.Sleep(time.Second) // until then everything has begun that does not wait
				early = read.Load()
			}
			return nil
		}}
		k.imports(thingToImport("a", "ext-1"))
		require.False(t, early)
		require.True(t, read.Load())
	})
}
