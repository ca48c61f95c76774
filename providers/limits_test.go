package providers_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
)

// meter is a provider of any package, and counts its calls.
type meter struct {
	providers.Provider
	takes time.Duration
	fails func(n int) error // the nth call, from 1
	most  int               // the number of calls from which on others are refused at once; 0 is any number

	mu        sync.Mutex
	n         int
	refused   int
	now, peak int
	order     []string
	began     []time.Duration // since the first call
	first     time.Time
}

func (m *meter) call(ctx context.Context, name string) error {
	m.mu.Lock()
	m.n++
	n := m.n
	if m.first.IsZero() {
		m.first = time.Now()
	}
	m.began = append(m.began, time.Since(m.first))
	m.now++
	m.peak = max(m.peak, m.now)
	m.order = append(m.order, name)
	refuses := m.most > 0 && m.now > m.most
	if refuses {
		m.refused++
	}
	m.mu.Unlock()
	defer func() { m.mu.Lock(); m.now--; m.mu.Unlock() }()
	if refuses {
		time.Sleep(time.Millisecond)
		return errThrottled
	}
	select {
	case <-time.After(m.takes):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if m.fails != nil {
		return m.fails(n)
	}
	return nil
}

func (m *meter) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	return providers.CreateResponse{ID: "x"}, m.call(ctx, req.Name)
}

func (m *meter) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	return providers.CheckResponse{}, m.call(ctx, req.Name)
}

func (m *meter) Construct(ctx context.Context, req providers.ConstructRequest) (providers.ConstructResponse, error) {
	return providers.ConstructResponse{}, m.call(ctx, req.Name)
}

func newMeter(takes time.Duration) *meter {
	return &meter{Provider: providertest.NewFake("any"), takes: takes}
}

func limits(t *testing.T, rules ...providers.Rule) *providers.Limits {
	t.Helper()
	l, err := providers.NewLimits(rules...)
	require.NoError(t, err)
	return l
}

// metered returns a registry whose provider instances all call m.
func metered(t *testing.T, m *meter, all ...*providers.Limits) *providers.Registry {
	return newRegistry(t, hostOf(m), providers.RegistryOptions{Limits: all})
}

func providerOf(t *testing.T, r *providers.Registry, pkg, id string) providers.Provider {
	t.Helper()
	typ := urn.Type("pulumi:providers:" + pkg)
	ref := urn.ProviderRef{URN: urn.New("dev", "p", "", typ, id), ID: id}
	require.NoError(t, r.Same(t.Context(), ref, object()))
	p, ok := r.Lookup(ref)
	require.True(t, ok)
	return p
}

func create(ctx context.Context, p providers.Provider, typ urn.Type, name string) error {
	u := urn.New("dev", "p", "", typ, name)
	_, err := p.Create(ctx, providers.CreateRequest{URN: u, Name: name, Type: typ})
	return err
}

const thing, slow urn.Type = "simple:index:Thing", "simple:slow/Slow:Slow"

func TestARuleBoundsWhatItMatches(t *testing.T) {
	for name, c := range map[string]struct {
		rule providers.Rule
		peak int // of 12 calls: creates of two types by two instances of one package and one of another
	}{
		"all packages together":      {providers.Rule{Parallel: 2}, 2},
		"each package by itself":     {providers.Rule{Provider: "*", Parallel: 2}, 4},
		"one package, all instances": {providers.Rule{Provider: "simple", Parallel: 2}, 4 + 2},
		"a pattern of packages":      {providers.Rule{Provider: "sim*", Parallel: 2}, 4 + 2},
		"a type":                     {providers.Rule{Type: string(slow), Parallel: 2}, 6 + 2},
		"the short form of a type":   {providers.Rule{Type: "simple:slow:Slow", Parallel: 2}, 6 + 2},
		"a pattern of types":         {providers.Rule{Type: "simple:slow/*", Parallel: 1}, 6 + 1},
		"a method":                   {providers.Rule{Methods: []providers.Method{providers.MethodCreate}, Parallel: 3}, 3},
		"a group":                    {providers.Rule{Methods: []providers.Method{providers.MethodChanges}, Parallel: 3}, 3},
		"other methods": {providers.Rule{
			Methods: []providers.Method{providers.MethodReads, providers.MethodDelete}, Parallel: 1,
		}, 12},
		"another package": {providers.Rule{Provider: "other*", Type: "x*", Parallel: 1}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMeter(time.Second)
				r := metered(t, m, limits(t, c.rule))
				var wg conc.WaitGroup
				for _, of := range [][2]string{{"simple", "a"}, {"simple", "b"}, {"other", "c"}} {
					p := providerOf(t, r, of[0], of[1])
					for n := range 4 {
						wg.Go(func() { require.NoError(t, create(t.Context(), p, []urn.Type{thing, slow}[n%2], fmt.Sprint(n))) })
					}
				}
				wg.Wait()
				require.Equal(t, c.peak, m.peak)
			})
		})
	}
}

func TestACallWaitsForAllRulesThatMatchIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(time.Second)
		r := metered(t, m, limits(t, providers.Rule{Parallel: 3}, providers.Rule{Type: string(slow), Parallel: 1}))
		p := providerOf(t, r, "simple", "a")
		before := time.Now()
		var slowOnes, others conc.WaitGroup
		for n := range 6 {
			slowOnes.Go(func() { require.NoError(t, create(t.Context(), p, slow, fmt.Sprint(n))) })
		}
		synctest.Wait()
		for n := range 10 {
			others.Go(func() { require.NoError(t, create(t.Context(), p, thing, fmt.Sprint(n))) })
		}
		others.Wait()
		require.Equal(t, 5*time.Second, time.Since(before), "those that wait for the narrow rule keep nothing of the wide one")
		slowOnes.Wait()
		require.Equal(t, 6*time.Second, time.Since(before))
		require.Equal(t, 3, m.peak)
	})
}

func TestCallsThatNeedTheSameGoInTheOrderOfTheirArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(time.Second)
		r := metered(t, m, limits(t, providers.Rule{Provider: "simple", Parallel: 1}))
		p := providerOf(t, r, "simple", "a")
		var wg conc.WaitGroup
		var want []string
		for n := range 8 {
			want = append(want, fmt.Sprint(n))
			wg.Go(func() { require.NoError(t, create(t.Context(), p, []urn.Type{thing, slow}[n%2], fmt.Sprint(n))) })
			synctest.Wait()
		}
		wg.Wait()
		require.Equal(t, want, m.order)
	})
}

func TestARateSpreadsTheBeginningsOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(0)
		r := metered(t, m, limits(t, providers.Rule{Rate: 4, Burst: 3}))
		p := providerOf(t, r, "simple", "a")
		var wg conc.WaitGroup
		for n := range 7 {
			wg.Go(func() { require.NoError(t, create(t.Context(), p, thing, fmt.Sprint(n))) })
		}
		wg.Wait()
		for i, want := range []time.Duration{0, 0, 0, 250, 500, 750, 1000} {
			require.InDelta(t, want*time.Millisecond, m.began[i], float64(time.Millisecond), "call %d", i)
		}
	})
}

func TestAVeryLowRateHoldsCallsUpForAsLongAsItSays(t *testing.T) {
	for rate, want := range map[float64]time.Duration{1e-4: 10_000 * time.Second, 1e-300: 0} {
		synctest.Test(t, func(t *testing.T) {
			m := newMeter(0)
			p := providerOf(t, metered(t, m, limits(t, providers.Rule{Rate: rate})), "simple", "a")
			require.NoError(t, create(t.Context(), p, thing, "a"))
			ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
			defer cancel()
			err := create(ctx, p, thing, "b")
			if want == 0 {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				return
			}
			require.NoError(t, err)
			require.InDelta(t, want, m.began[1], float64(10*time.Millisecond))
		})
	}
}

func TestARateIsNotUsedUpByCallsThatWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(3 * time.Second)
		r := metered(t, m, limits(t, providers.Rule{Rate: 1}, providers.Rule{Parallel: 1}))
		p := providerOf(t, r, "simple", "a")
		var wg conc.WaitGroup
		for n := range 4 {
			wg.Go(func() {
				require.NoError(t, create(t.Context(), p, thing, fmt.Sprint(n)))
			})
		}
		synctest.Wait()
		m.mu.Lock()
		m.takes = 0
		m.mu.Unlock()
		wg.Wait()
		for i, want := range []time.Duration{0, 3, 4, 5} {
			require.InDelta(t, want*time.Second, m.began[i], float64(time.Millisecond), "call %d", i)
		}
	})
}

func TestAWaitEndsWithItsContextAndTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(time.Second)
		shared, own := limits(t, providers.Rule{Parallel: 1}), limits(t, providers.Rule{Provider: "simple", Parallel: 1})
		r := metered(t, m, own, shared)
		p := providerOf(t, r, "simple", "a")
		other := providerOf(t, metered(t, m, shared), "other", "b")
		var wg conc.WaitGroup
		wg.Go(func() { require.NoError(t, create(t.Context(), other, thing, "first")) })
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, create(short, p, thing, "gives up"), context.DeadlineExceeded, "it waits for what another run uses")
		require.ErrorIs(t, create(short, p, thing, "too late"), context.DeadlineExceeded)
		require.NoError(t, create(t.Context(), p, thing, "second"))
		wg.Wait()
		require.Equal(t, []string{"first", "second"}, m.order)
	})
}

func TestCallsThatCallBackAreNotLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(time.Second)
		p := providerOf(t, metered(t, m, limits(t, providers.Rule{Parallel: 1})), "simple", "a")
		var wg conc.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := p.Construct(t.Context(), providers.ConstructRequest{})
				require.NoError(t, err)
			})
		}
		wg.Wait()
		require.Equal(t, 3, m.peak)
	})
}

func TestPreviewedChangesCountForRulesAboutAllMethods(t *testing.T) {
	for peak, rule := range map[int]providers.Rule{
		1: {Parallel: 1}, 3: {Methods: []providers.Method{providers.MethodChanges, providers.MethodCreate}, Parallel: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMeter(time.Second)
			p := providerOf(t, metered(t, m, limits(t, rule)), "simple", "a")
			var wg conc.WaitGroup
			for range 3 {
				wg.Go(func() {
					_, err := p.Create(t.Context(), providers.CreateRequest{Type: thing, Preview: true})
					require.NoError(t, err)
				})
			}
			wg.Wait()
			require.Equal(t, peak, m.peak)
		})
	}
}

func TestAPanickingProviderGivesBackWhatItsCallTook(t *testing.T) {
	m := newMeter(0)
	m.fails = func(n int) error {
		if n == 1 {
			panic("oh")
		}
		return nil
	}
	p := providerOf(t, metered(t, m, limits(t, providers.Rule{Parallel: 1})), "simple", "a")
	require.Panics(t, func() { _ = create(t.Context(), p, thing, "a") })
	require.NoError(t, create(t.Context(), p, thing, "b"))
}

var errThrottled = status.Error(codes.Unknown, "operation error EC2: RunInstances, api error RequestLimitExceeded: Request limit exceeded.")

// wave makes n calls at once, and returns the highest number of simultaneous calls.
func (m *meter) wave(t *testing.T, p providers.Provider, n int) int {
	m.peak = 0
	var wg conc.WaitGroup
	for i := range n {
		wg.Go(func() { _ = create(t.Context(), p, thing, fmt.Sprint(i)) })
	}
	wg.Wait()
	return m.peak
}

func TestAdaptiveLimitsHalveAndRecover(t *testing.T) {
	for name, parallel := range map[string]int{"with an upper bound": 8, "without one": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMeter(100 * time.Millisecond)
				var throttled error
				m.fails = func(int) error { return throttled }
				p := providerOf(t, metered(t, m, limits(t, providers.Rule{Parallel: parallel, Adaptive: true})), "simple", "a")
				throttled = errThrottled
				require.Equal(t, 8, m.wave(t, p, 8), "all are refused, for one reason")
				throttled = nil
				require.Equal(t, 4, m.wave(t, p, 4))
				throttled = errThrottled
				require.Equal(t, 5, m.wave(t, p, 5), "it has grown by one")
				throttled = errors.New("the name is taken")
				require.Equal(t, 2, m.wave(t, p, 20), "other errors change nothing")
				throttled = nil
				require.Equal(t, 4, m.wave(t, p, 2+3+4))
				peak := m.wave(t, p, 200)
				if parallel > 0 {
					require.Equal(t, parallel, peak, "it grows no further")
				} else {
					require.Greater(t, peak, 8)
				}
				throttled = errThrottled
				for range 10 {
					m.wave(t, p, 1)
				}
				require.Equal(t, 1, m.wave(t, p, 3), "one call is always allowed")
			})
		})
	}
}

func TestAnAPIThatRefusesAtOnceUsesUpFewCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(time.Second)
		m.most = 4
		p := providerOf(t, metered(t, m, limits(t, providers.Rule{Parallel: 16, Adaptive: true})), "simple", "a")
		require.Equal(t, 16, m.wave(t, p, 60))
		require.Equal(t, 60, m.n)
		require.Less(t, m.refused, 30, "the refusals of one moment have one reason, those of later ones another")
	})
}

func TestWhoIsCanceledDoesNotWaitForALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(time.Second)
		r := metered(t, m, limits(t, providers.Rule{Parallel: 1}))
		p := providerOf(t, r, "simple", "a")
		var wg conc.WaitGroup
		wg.Go(func() { require.NoError(t, create(t.Context(), p, thing, "asked")) })
		synctest.Wait()
		wg.Go(func() {
			require.ErrorContains(t, create(t.Context(), p, thing, "waits"), "the provider was not called")
		})
		synctest.Wait()
		require.NoError(t, r.Cancel(t.Context()))
		require.ErrorContains(t, create(t.Context(), p, thing, "too late"), "the provider was not called")
		wg.Wait()
		require.Equal(t, []string{"asked"}, m.order)
	})
}

func TestWhatCountsAsThrottling(t *testing.T) {
	for text, want := range map[string]bool{
		"api error Throttling: Rate exceeded":                                 true,
		"ThrottlingException: try later":                                      true,
		"api error RequestLimitExceeded: Request limit exceeded.":             true,
		"TooManyRequestsException":                                            true,
		"api error SlowDown: Please reduce your request rate.":                true,
		"googleapi: Error 403: Rate Limit Exceeded, rateLimitExceeded":        true,
		"googleapi: Error 429: Quota exceeded for quota metric":               true,
		"autorest: StatusCode=429 -- Original Error":                          true,
		"the server has received too many requests and has asked us to retry": true,
		"unexpected status 429 Too Many Requests":                             true,
		"sim: throttled: try again in 1s":                                     true,
		"the ID i-429 is taken":                                               false,
		"the connection slowed down to a crawl":                               false,
		"quota exceeded: 5 of 5 addresses are used":                           false,
	} {
		require.Equal(t, want, providers.IsThrottling(errors.New(text)), text)
	}
	require.True(t, providers.IsThrottling(fmt.Errorf("create: %w", status.Error(codes.ResourceExhausted, "later"))))
	require.False(t, providers.IsThrottling(status.Error(codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)")))
	require.False(t, providers.IsThrottling(status.Error(codes.Unavailable, "connection refused")))
}

func TestLongWaitsAreToldAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(1500 * time.Millisecond)
		var told []string
		r := newRegistry(t, hostOf(m), providers.RegistryOptions{
			Limits: []*providers.Limits{limits(t,
				providers.Rule{Name: "slowly", Type: string(slow), Parallel: 1},
				providers.Rule{Provider: "simp*", Methods: []providers.Method{providers.MethodChanges}, Parallel: 2},
			)},
			Waiting: func(limit string, waiting bool) { told = append(told, fmt.Sprintf("%s %v", limit, waiting)) },
		})
		p := providerOf(t, r, "simple", "a")
		var wg conc.WaitGroup
		for n := range 3 {
			wg.Go(func() { require.NoError(t, create(t.Context(), p, slow, fmt.Sprint(n))) })
		}
		time.Sleep(100 * time.Millisecond)
		for n := range 2 {
			wg.Go(func() { require.NoError(t, create(t.Context(), p, thing, fmt.Sprint(n))) })
		}
		wg.Wait()
		require.Equal(t, []string{"slowly true", "simple changes true", "simple changes false", "slowly false"}, told)
		require.Equal(t, []providers.LimitWait{
			{Limit: "slowly", Calls: 2, Time: 3 * time.Second}, {Limit: "simple changes", Calls: 1, Time: 1500 * time.Millisecond},
		}, r.LimitWaits())
	})
}

func TestEachWaitIsToldWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(time.Second)
		var mu sync.Mutex
		var told []providers.LimitedCall
		var waited time.Duration
		r := newRegistry(t, hostOf(m), providers.RegistryOptions{
			Limits: []*providers.Limits{limits(t, providers.Rule{Name: "few", Parallel: 2})},
			DuringWait: func(_ context.Context, c providers.LimitedCall) func() {
				began := time.Now()
				return func() {
					mu.Lock()
					defer mu.Unlock()
					told, waited = append(told, c), waited+time.Since(began)
				}
			},
		})
		p := providerOf(t, r, "simple", "a")
		u := urn.New("dev", "p", "", thing, "one")
		var wg conc.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := p.Create(t.Context(), providers.CreateRequest{URN: u, Type: thing})
				require.NoError(t, err)
			})
		}
		wg.Wait()
		require.Equal(t, []providers.LimitedCall{{Limit: "few", Package: "simple", Method: providers.MethodCreate, URN: u, Type: thing}}, told)
		require.Equal(t, time.Second, waited)
	})
}

func TestNobodyIsToldOfWaitsWhenTheRegistryIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMeter(5 * time.Second)
		told := 0
		r := newRegistry(t, hostOf(m), providers.RegistryOptions{
			Limits: []*providers.Limits{limits(t, providers.Rule{Parallel: 1})}, Waiting: func(string, bool) { told++ },
		})
		p := providerOf(t, r, "simple", "a")
		var wg conc.WaitGroup
		for n := range 2 {
			wg.Go(func() { _ = create(t.Context(), p, thing, fmt.Sprint(n)) })
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, 1, told)
		require.NoError(t, r.Close())
		wg.Wait()
		require.Equal(t, 1, told)
	})
}

func TestRulesThatMeanNothingAreRefused(t *testing.T) {
	for want, r := range map[string]providers.Rule{
		"rule 2 (aws): it limits nothing: set parallel, rate or adaptive":                                       {Provider: "aws"},
		"rule 2 (all providers): parallel must be a whole number from 1, not -1":                                {Parallel: -1},
		"rule 2 (all providers): rate must be a number of calls a second":                                       {Rate: -1},
		"rule 2 (all providers): burst requires rate":                                                           {Burst: 2, Parallel: 1},
		"rule 2 (aws construct): methods: unknown method \"construct\"; the methods are changes, check, create": {Provider: "aws", Methods: []providers.Method{"construct"}, Parallel: 1},
		"rule 2 (all providers a[b): type: \"a[b\" is not a name or a pattern":                                  {Type: "a[b", Parallel: 1},
		"rule 2 (mine of {a,b}*): provider: \"{a,b}*\" is not a name or a pattern":                              {Name: "mine", Provider: "{a,b}*", Parallel: 1},
	} {
		_, err := providers.NewLimits(providers.Rule{Parallel: 1}, r)
		require.ErrorContains(t, err, want)
	}
}

func TestRulesAreReadFromJSON(t *testing.T) {
	rules, err := providers.ParseRules(`[
		{"name": "iam", "provider": "aws", "methods": "changes", "type": "aws:iam/*", "parallel": 2, "rate": 0.5, "burst": "4", "adaptive": true},
		{"methods": ["check", "diff"], "rate": "2.5", "adaptive": "false"}]`)
	require.NoError(t, err)
	require.Equal(t, []providers.Rule{
		{
			Name: "iam", Provider: "aws", Methods: []providers.Method{"changes"}, Type: "aws:iam/*", Parallel: 2, Rate: 0.5, Burst: 4,
			Adaptive: true,
		},
		{Methods: []providers.Method{"check", "diff"}, Rate: 2.5},
	}, rules)

	for text, want := range map[string]string{
		`{"parallel": 1}`:            "it must be a list of rules",
		`parallel=1`:                 "it must be a list of rules",
		`[{"parallel": 1}, 7]`:       "rule 2: a rule is a map of fields, not 7",
		`[null]`:                     "rule 1: a rule is a map of fields, not null",
		`[{"parallel": 0}]`:          "rule 1: parallel: it must be a whole number from 1, not 0",
		`[{"parallel": 1.5}]`:        "rule 1: parallel: it must be a whole number from 1, not 1.5",
		`[{"parallel": "many"}]`:     `rule 1: parallel: it must be a whole number from 1, not "many"`,
		`[{"rate": 0}]`:              "rule 1: rate: it must be a number of calls a second that is greater than 0, not 0",
		`[{"rate": "NaN"}]`:          `rule 1: rate: it must be a number of calls a second that is greater than 0, not "NaN"`,
		`[{"rate": 1, "burst": -1}]`: "rule 1: burst: it must be a whole number from 1, not -1",
		`[{"adaptive": 1}]`:          "rule 1: adaptive: it must be true or false, not 1",
		`[{"provider": ""}]`:         `rule 1: provider: it must be a text, not ""`,
		`[{"methods": []}]`:          "rule 1: methods: it is empty; leave it out for all methods",
		`[{"methods": [1]}]`:         "rule 1: methods: it must be a method or a list of methods, not [1]",
		`[{"paralel": 1}]`:           `rule 1: unknown field "paralel"; a rule has adaptive, burst, methods, name, parallel, provider, rate, type`,
	} {
		_, err := providers.ParseRules(text)
		require.ErrorContains(t, err, want, text)
	}
}
