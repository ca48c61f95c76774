package providers_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

const providerType urn.Type = "pulumi:providers:simple"

var (
	providerURN = urn.New("dev", "p", "", providerType, "main")
	thingURN    = urn.New("dev", "p", "", "simple:index:Thing", "web")
)

func object(pairs ...any) property.Map {
	m := map[string]property.Value{}
	for i := 0; i < len(pairs); i += 2 {
		switch v := pairs[i+1].(type) {
		case string:
			m[pairs[i].(string)] = property.String(v)
		case property.Value:
			m[pairs[i].(string)] = v
		case property.Map:
			m[pairs[i].(string)] = property.Of(v)
		}
	}
	return property.NewMap(m)
}

func newRegistry(t *testing.T, host providers.Host, o providers.RegistryOptions) *providers.Registry {
	t.Helper()
	n := 0
	if o.NewID == nil {
		o.NewID = func(urn.URN) string { n++; return fmt.Sprintf("id-%d", n) }
	}
	r := providers.NewRegistry(context.Background(), host, o)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func checked(t *testing.T, r *providers.Registry, news property.Map) property.Map {
	t.Helper()
	answer, err := r.Resources().Check(t.Context(), providers.CheckRequest{URN: providerURN, Name: "main", Type: providerType, News: news})
	require.NoError(t, err)
	require.Empty(t, answer.Failures)
	return answer.Inputs
}

func created(t *testing.T, r *providers.Registry, inputs property.Map, preview bool) urn.ProviderRef {
	t.Helper()
	answer, err := r.Resources().Create(t.Context(), providers.CreateRequest{
		URN: providerURN, Name: "main", Type: providerType, Properties: inputs, Preview: preview,
	})
	require.NoError(t, err)
	return urn.ProviderRef{URN: providerURN, ID: answer.ID}
}

func thingInputs(p providers.Provider, t *testing.T) (providers.CheckResponse, error) {
	return p.Check(t.Context(), providers.CheckRequest{URN: thingURN, Type: thingURN.Type(), News: object("a", "1")})
}

func TestCreateConfiguresTheCheckedInstance(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
	news := providers.Spec{Version: "1.2.3", DownloadURL: "https://example.com"}.Inputs(object("region", "eu"))
	inputs := checked(t, r, news)
	require.True(t, property.IdenticalMaps(news, inputs))

	_, ok := r.Lookup(urn.ProviderRef{URN: providerURN, ID: "id-1"})
	require.False(t, ok, "not created yet")
	ref := created(t, r, inputs, false)
	require.Equal(t, "id-1", ref.ID)
	p, ok := r.Lookup(ref)
	require.True(t, ok)
	_, err := thingInputs(p, t)
	require.NoError(t, err)
	require.Len(t, cloud.Loads(), 1)
	require.Equal(t, 1, cloud.Count(providertest.MethodConfigure))
}

func TestPreviewCreatesUnderTheUnknownID(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
	ref := created(t, r, checked(t, r, object("region", "eu")), true)
	require.Equal(t, urn.UnknownID, ref.ID)
	_, ok := r.Lookup(ref)
	require.True(t, ok)
}

func TestProviderNeverSeesTheInternalKey(t *testing.T) {
	var seen []property.Map
	fake := providertest.NewFake("simple")
	fake.OnCheckConfig = func(_ context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
		seen = append(seen, req.Olds, req.News)
		return providers.CheckResponse{Inputs: req.News.Without(providers.VersionKey)}, nil
	}
	fake.OnDiffConfig = func(_ context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
		seen = append(seen, req.OldInputs, req.OldOutputs, req.NewInputs)
		return providers.DiffResponse{}, nil
	}
	fake.OnConfigure = func(_ context.Context, req providers.ConfigureRequest) error {
		seen = append(seen, req.Inputs)
		return nil
	}
	r := newRegistry(t, hostOf(fake), providers.RegistryOptions{})
	news := providers.Spec{Version: "1.2.3", DownloadURL: "u"}.Inputs(object("region", "eu"))
	answer, err := r.Resources().Check(t.Context(), providers.CheckRequest{URN: providerURN, Type: providerType, News: news, Olds: news})
	require.NoError(t, err)
	require.True(t, property.IdenticalMaps(news, answer.Inputs), "version and __internal are restored")

	diff, err := r.Resources().Diff(t.Context(), providers.DiffRequest{
		URN: providerURN, Type: providerType, ID: "x", OldInputs: news, OldOutputs: providers.Configuration(news), NewInputs: news,
	})
	require.NoError(t, err)
	require.Equal(t, providers.DiffNone, diff.Changes)

	out, err := r.Resources().Update(t.Context(), providers.UpdateRequest{URN: providerURN, Type: providerType, ID: "x", NewInputs: news})
	require.NoError(t, err)
	require.Equal(t, []string{"region", "version"}, out.Properties.Names())
	require.NoError(t, r.Close())
	require.Len(t, seen, 6)
	for _, m := range seen {
		require.Equal(t, []string{"region", "version"}, m.Names())
	}
}

func TestOutsidePreviewsAProviderMakesNoConfigurationUnknown(t *testing.T) {
	fake := providertest.NewFake("simple")
	fake.OnCheckConfig = func(_ context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
		return providers.CheckResponse{Inputs: req.News.With("endpoint", property.Computed())}, nil
	}
	for name, c := range map[string]struct {
		news    property.Map
		preview bool
		refused bool
	}{
		"update":                 {news: object("region", "eu"), refused: true},
		"preview":                {news: object("region", "eu"), preview: true},
		"update after a failure": {news: object("region", property.Computed())},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t, hostOf(fake), providers.RegistryOptions{})
			_, err := r.Resources().Check(t.Context(), providers.CheckRequest{
				URN: providerURN, Type: providerType, News: providers.Spec{Version: "1.2.3"}.Inputs(c.news), AllowUnknowns: c.preview,
			})
			if !c.refused {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "check the configuration of "+string(providerURN)+": provider simple 1.2.3 answered with unknown "+
				`values for "endpoint" outside a preview; this is a bug in the provider`)
		})
	}
}

func hostOf(p providers.Provider) providers.Host {
	return providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) { return p, nil })
}

func TestCheckRefuses(t *testing.T) {
	boom := errors.New("boom")
	cases := map[string]struct {
		news     property.Map
		answer   func(property.Map) (providers.CheckResponse, error)
		failure  string
		err      string
		warnings int
	}{
		"a version that is not a semantic version": {news: object("version", "latest"), failure: "version"},
		"an unknown version":                       {news: object("version", property.Computed()), failure: "version"},
		"a changed version": {
			news: object("version", "1.0.0"),
			answer: func(m property.Map) (providers.CheckResponse, error) {
				return providers.CheckResponse{Inputs: m.With("version", property.String("2.0.0"))}, nil
			},
			err: `attempted to change version from "1.0.0" to "2.0.0"`,
		},
		"an error of the provider": {
			answer: func(property.Map) (providers.CheckResponse, error) { return providers.CheckResponse{}, boom }, err: "boom",
		},
		"a reserved key": {
			answer: func(m property.Map) (providers.CheckResponse, error) {
				return providers.CheckResponse{Inputs: m.With("__internal", property.String("x"))}, nil
			},
			warnings: 1,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			closed := 0
			fake := providertest.NewFake("simple")
			fake.OnCheckConfig = func(_ context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
				return c.answer(req.News)
			}
			fake.OnClose = func() error { closed++; return nil }
			warnings := 0
			r := newRegistry(t, hostOf(fake), providers.RegistryOptions{Warn: func(urn.URN, string) { warnings++ }})
			answer, err := r.Resources().Check(t.Context(), providers.CheckRequest{URN: providerURN, Type: providerType, News: c.news})
			require.NoError(t, r.Close())
			require.Equal(t, c.warnings, warnings)
			switch {
			case c.err != "":
				require.ErrorContains(t, err, c.err)
				require.Equal(t, 1, closed, "a refused instance is closed")
			case c.failure != "":
				require.NoError(t, err)
				require.Len(t, answer.Failures, 1)
				require.Equal(t, c.failure, answer.Failures[0].Property)
			default:
				require.NoError(t, err)
				require.Empty(t, answer.Inputs.Names())
			}
		})
	}
}

func TestConfigureErrorReachesEveryWaitingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := providertest.NewCloud(providertest.Options{
			MinLatency: time.Minute, MaxLatency: time.Minute,
			Failures: []providertest.Failure{{Method: providertest.MethodConfigure, Err: errors.New("no credentials")}},
		})
		r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
		inputs := checked(t, r, object())
		before := time.Now()
		ref := created(t, r, inputs, false)
		require.Equal(t, before, time.Now(), "create does not wait for the configuration")
		p, _ := r.Lookup(ref)
		var wg conc.WaitGroup
		var failed atomic.Int32
		for range 5 {
			wg.Go(func() {
				if _, err := thingInputs(p, t); err != nil {
					require.ErrorContains(t, err, "no credentials")
					failed.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 5, failed.Load())
		require.Zero(t, cloud.Count(providers.MethodCheck))
	})
}

func TestProvidersAreConfiguredInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := providertest.NewCloud(providertest.Options{Latency: func(c providertest.Call) time.Duration {
			if c.Method == providertest.MethodConfigure {
				return time.Minute
			}
			return 0
		}})
		r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
		before := time.Now()
		var found []providers.Provider
		for n := range 10 {
			ref := urn.ProviderRef{URN: providerURN + urn.URN(fmt.Sprint(n)), ID: "x"}
			require.NoError(t, r.Same(t.Context(), ref, object()))
			p, ok := r.Lookup(ref)
			require.True(t, ok)
			found = append(found, p)
		}
		for _, p := range found {
			_, err := thingInputs(p, t)
			require.NoError(t, err)
		}
		require.Equal(t, time.Minute, time.Since(before))
	})
}

func TestUnknownConfigurationIsAnsweredForTheProvider(t *testing.T) {
	for _, echo := range []bool{false, true} {
		cloud := providertest.NewCloud(providertest.Options{})
		r := newRegistry(t, cloud.Host(), providers.RegistryOptions{EchoInputs: echo})
		ref := created(t, r, checked(t, r, object("region", property.Computed())), true)
		p, _ := r.Lookup(ref)
		ctx, in := t.Context(), object("a", "1")

		check, err := thingInputs(p, t)
		require.NoError(t, err)
		require.Equal(t, in, check.Inputs)
		_, err = p.Diff(ctx, providers.DiffRequest{})
		require.ErrorAs(t, err, new(*providers.DiffUnavailableError))
		create, err := p.Create(ctx, providers.CreateRequest{Preview: true, Properties: in})
		require.NoError(t, err)
		require.Empty(t, create.ID)
		update, err := p.Update(ctx, providers.UpdateRequest{Preview: true, NewInputs: in})
		require.NoError(t, err)
		if echo {
			require.Equal(t, in, create.Properties)
			require.Equal(t, in, update.Properties)
		} else {
			require.Zero(t, create.Properties.Len())
			require.Zero(t, update.Properties.Len())
		}
		read, err := p.Read(ctx, providers.ReadRequest{ID: "x"})
		require.NoError(t, err)
		require.Equal(t, providers.ReadResponse{ID: "x", Unknown: true, HasInputs: true}, read)
		list, err := p.List(ctx, providers.ListRequest{})
		require.NoError(t, err)
		require.Equal(t, providers.ListResponse{Unknown: true}, list)
		invoke, err := p.Invoke(ctx, providers.InvokeRequest{})
		require.NoError(t, err)
		require.Zero(t, invoke.Return.Len())
		call, err := p.Call(ctx, providers.CallRequest{})
		require.NoError(t, err)
		require.Zero(t, call.Return.Len())
		_, err = p.Construct(ctx, providers.ConstructRequest{})
		require.ErrorIs(t, err, providers.ErrConfigurationUnknown)
		_, err = p.Create(ctx, providers.CreateRequest{Properties: in})
		require.ErrorIs(t, err, providers.ErrConfigurationUnknown)
		require.ErrorIs(t, p.Delete(ctx, providers.DeleteRequest{}), providers.ErrConfigurationUnknown)
		require.Zero(t, cloud.Count(providertest.MethodConfigure))
	}
}

func TestEnsureStartsOneProviderForManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := providertest.NewCloud(providertest.Options{})
		host := providers.HostFunc(func(ctx context.Context, s providers.Spec) (providers.Provider, error) {
			time.Sleep(time.Minute)
			return cloud.Host().Load(ctx, s)
		})
		r := newRegistry(t, host, providers.RegistryOptions{})
		ref := urn.ProviderRef{URN: providerURN, ID: "old"}
		var wg conc.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := r.Ensure(t.Context(), ref, object())
				require.NoError(t, err)
			})
		}
		wg.Wait()
		require.Len(t, cloud.Loads(), 1)
	})
}

func TestEnsureLeavesTheCheckedInstanceAlone(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
	inputs := checked(t, r, object("region", "new"))
	ref := urn.ProviderRef{URN: providerURN, ID: "old"}
	old, err := r.Ensure(t.Context(), ref, object("region", "old"))
	require.NoError(t, err)
	require.Len(t, cloud.Loads(), 2)

	_, err = r.Resources().Update(t.Context(), providers.UpdateRequest{URN: providerURN, Type: providerType, ID: "old", NewInputs: inputs})
	require.NoError(t, err)
	require.Len(t, cloud.Loads(), 2, "update uses the checked instance")
	now, _ := r.Lookup(ref)
	require.NotSame(t, old, now)
	_, err = thingInputs(old, t)
	require.NoError(t, err, "whoever holds the old instance can still use it")

	again, err := r.Ensure(t.Context(), ref, object("region", "old"))
	require.NoError(t, err)
	require.Same(t, now, again, "an updated instance is not overwritten")
}

func TestARecordedProviderStaysBesideTheOneThatIsUpdated(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
	ref := urn.ProviderRef{URN: providerURN, ID: "old"}
	recorded := object("region", "old")
	first, err := r.Recorded(t.Context(), ref, recorded)
	require.NoError(t, err)
	same, err := r.Ensure(t.Context(), ref, recorded)
	require.NoError(t, err)
	require.Same(t, first, same, "one instance serves as long as there is one configuration")

	inputs := checked(t, r, object("region", "new"))
	_, err = r.Resources().Update(t.Context(), providers.UpdateRequest{URN: providerURN, Type: providerType, ID: "old", NewInputs: inputs})
	require.NoError(t, err)
	now, _ := r.Lookup(ref)
	var wg conc.WaitGroup
	for range 5 {
		wg.Go(func() {
			beside, err := r.Recorded(t.Context(), ref, recorded)
			require.NoError(t, err)
			require.NotSame(t, now, beside)
			_, err = thingInputs(beside, t)
			require.NoError(t, err)
		})
	}
	wg.Wait()
	require.Len(t, cloud.Loads(), 3, "one recorded, one updated, and one recorded beside that")
}

func TestFailedEnsureIsTriedAgain(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	n := 0
	host := providers.HostFunc(func(ctx context.Context, s providers.Spec) (providers.Provider, error) {
		if n++; n == 1 {
			return nil, errors.New("not installed")
		}
		if n == 2 {
			panic("host")
		}
		return cloud.Host().Load(ctx, s)
	})
	r := newRegistry(t, host, providers.RegistryOptions{})
	ref := urn.ProviderRef{URN: providerURN, ID: "x"}
	_, err := r.Ensure(t.Context(), ref, object())
	require.EqualError(t, err, "could not create provider "+ref.String()+": not installed")
	require.ErrorContains(t, r.Same(t.Context(), ref, object()), "bad provider state for resource "+string(providerURN))
	_, err = r.Ensure(t.Context(), ref, object())
	require.NoError(t, err)
}

func TestOldReferenceOfARenamedProviderIsFound(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
	old := urn.New("dev", "p", "", providerType, "before")
	r.Alias(old, providerURN)
	require.NoError(t, r.Same(t.Context(), urn.ProviderRef{URN: providerURN, ID: "x"}, object()))
	byOld, ok := r.Lookup(urn.ProviderRef{URN: old, ID: "x"})
	require.True(t, ok)
	byNew, _ := r.Lookup(urn.ProviderRef{URN: providerURN, ID: "x"})
	require.Same(t, byNew, byOld)
	_, ok = r.Lookup(urn.ProviderRef{URN: old, ID: "y"})
	require.False(t, ok)
}

func TestDeletedProviderIsClosedAfterItsLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := providertest.NewCloud(providertest.Options{Latency: func(c providertest.Call) time.Duration {
			return map[providers.Method]time.Duration{providers.MethodCheck: time.Hour}[c.Method]
		}})
		r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
		ref := urn.ProviderRef{URN: providerURN, ID: "x"}
		require.NoError(t, r.Same(t.Context(), ref, object()))
		p, _ := r.Lookup(ref)
		var wg conc.WaitGroup
		wg.Go(func() {
			_, err := thingInputs(p, t)
			require.NoError(t, err)
		})
		synctest.Wait()
		require.NoError(t, r.Resources().Delete(t.Context(), providers.DeleteRequest{URN: providerURN, ID: "x"}))
		synctest.Wait()
		require.Zero(t, cloud.Count(providertest.MethodClose))
		_, ok := r.Lookup(ref)
		require.False(t, ok)
		_, err := thingInputs(p, t)
		require.ErrorContains(t, err, "unloaded")
		wg.Wait()
		synctest.Wait()
		require.Equal(t, 1, cloud.Count(providertest.MethodClose))
	})
}

func TestCancelAndCloseReachEveryProviderOnceAndInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := providertest.NewCloud(providertest.Options{
			Latency: func(c providertest.Call) time.Duration {
				return map[providers.Method]time.Duration{providertest.MethodCancel: time.Minute}[c.Method]
			},
			Failures: []providertest.Failure{{Method: providers.MethodCheck, Hang: true}},
		})
		r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
		checked(t, r, object())
		for _, id := range []string{"a", "b", "c"} {
			require.NoError(t, r.Same(t.Context(), urn.ProviderRef{URN: providerURN + urn.URN(id), ID: id}, object()))
		}
		p, _ := r.Lookup(urn.ProviderRef{URN: providerURN + "a", ID: "a"})
		var wg conc.WaitGroup
		wg.Go(func() {
			_, err := thingInputs(p, t)
			require.Error(t, err)
		})
		before := time.Now()
		require.NoError(t, r.Cancel(t.Context()))
		require.Equal(t, time.Minute, time.Since(before))
		wg.Wait()
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		require.Equal(t, 4, cloud.Count(providertest.MethodClose))
		_, err := r.Ensure(t.Context(), urn.ProviderRef{URN: providerURN, ID: "late"}, object())
		require.ErrorContains(t, err, "the run is over")
	})
}

func TestCloseGivesUpWhatIsBeingStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := providers.HostFunc(func(ctx context.Context, _ providers.Spec) (providers.Provider, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		r := newRegistry(t, host, providers.RegistryOptions{})
		var wg conc.WaitGroup
		wg.Go(func() {
			_, err := r.Ensure(t.Context(), urn.ProviderRef{URN: providerURN, ID: "x"}, object())
			require.ErrorContains(t, err, "the run is over")
		})
		wg.Go(func() {
			_, err := r.Resources().Check(t.Context(), providers.CheckRequest{URN: providerURN, Type: providerType})
			require.ErrorContains(t, err, "the run is over")
		})
		synctest.Wait()
		require.NoError(t, r.Close())
		wg.Wait()
	})
}

func TestPanickingConfigureIsAnErrorOfTheCalls(t *testing.T) {
	fake := providertest.NewFake("simple")
	fake.OnConfigure = func(context.Context, providers.ConfigureRequest) error { panic("oh") }
	r := newRegistry(t, hostOf(fake), providers.RegistryOptions{})
	ref := urn.ProviderRef{URN: providerURN, ID: "x"}
	require.NoError(t, r.Same(t.Context(), ref, object()))
	p, _ := r.Lookup(ref)
	_, err := thingInputs(p, t)
	require.ErrorContains(t, err, "oh")
}

func TestWaitConfiguredWaitsForTheConfigurationOfADeletedProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := providertest.NewCloud(providertest.Options{Latency: func(c providertest.Call) time.Duration {
			return map[providers.Method]time.Duration{providertest.MethodConfigure: time.Hour}[c.Method]
		}})
		r := newRegistry(t, cloud.Host(), providers.RegistryOptions{})
		require.NoError(t, r.Same(t.Context(), urn.ProviderRef{URN: providerURN, ID: "x"}, object()))
		require.NoError(t, r.Resources().Delete(t.Context(), providers.DeleteRequest{URN: providerURN, ID: "x"}))
		before := time.Now()
		r.WaitConfigured(t.Context())
		require.Equal(t, time.Hour, time.Since(before))
	})
}

func TestWaitConfiguredWarnsOfAConfigurationThatFailedForNobody(t *testing.T) {
	var warnings []string
	fake := providertest.NewFake("simple")
	fake.OnConfigure = func(_ context.Context, req providers.ConfigureRequest) error {
		return errors.New("bad token of " + req.ID)
	}
	host := providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) { return fake, nil })
	r := newRegistry(t, host, providers.RegistryOptions{Warn: func(u urn.URN, message string) { warnings = append(warnings, string(u)+": "+message) }})
	for _, id := range []string{"used", "unused"} {
		require.NoError(t, r.Same(t.Context(), urn.ProviderRef{URN: providerURN, ID: id}, object()))
	}
	used, ok := r.Lookup(urn.ProviderRef{URN: providerURN, ID: "used"})
	require.True(t, ok)
	_, err := used.Check(t.Context(), providers.CheckRequest{})
	require.ErrorContains(t, err, "bad token of used")
	r.WaitConfigured(t.Context())
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], string(providerURN))
	require.Contains(t, warnings[0], "bad token of unused; nothing used this provider")
}
