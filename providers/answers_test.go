package providers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// counting is a provider that counts its calls, and its starts. Check returns what is given; Diff compares the inputs.
type counting struct {
	mu    sync.Mutex // guards calls
	calls []string
	check func(providers.CheckRequest) (providers.CheckResponse, error) // in place of Check; may be nil
	diff  func(providers.DiffRequest) (providers.DiffResponse, error)   // in place of Diff; may be nil
}

func (c *counting) count(method string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, method)
}

// taken returns the calls since the last time.
func (c *counting) taken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return strings.Join(calls, " ")
}

func (c *counting) Load(_ context.Context, spec providers.Spec) (providers.Provider, error) {
	c.count("Load")
	return providers.Intercept(countedProvider{providers.Unimplemented{PackageName: spec.Package}, c}, func(ctx context.Context, call *providers.Call) error {
		c.count(call.Method)
		return call.Do(ctx)
	}), nil
}

// countedProvider answers for a counting host.
type countedProvider struct {
	providers.Unimplemented
	host *counting
}

func (p countedProvider) Check(_ context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	if p.host.check != nil {
		return p.host.check(req)
	}
	return providers.CheckResponse{Inputs: req.News}, nil
}

func (p countedProvider) Diff(_ context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	if p.host.diff != nil {
		return p.host.diff(req)
	}
	if property.EqualMaps(req.OldInputs, req.NewInputs) {
		return providers.DiffResponse{Changes: providers.DiffNone}, nil
	}
	return providers.DiffResponse{Changes: providers.DiffSome}, nil
}

// phase is one run of the engine against a host.
type phase struct {
	spec    providers.Spec
	config  property.Map
	options providers.RegistryOptions
}

// open returns the configured provider of a run.
func (ph phase) open(t *testing.T, h providers.Host) providers.Provider {
	t.Helper()
	r := newRegistry(t, h, ph.options)
	ref := urn.ProviderRef{URN: providerURN, ID: "id"}
	require.NoError(t, r.Same(t.Context(), ref, ph.spec.Inputs(ph.config)))
	p, ok := r.Lookup(ref)
	require.True(t, ok)
	return p
}

func checkRequest() providers.CheckRequest {
	return providers.CheckRequest{
		URN: thingURN, Name: "web", Type: thingURN.Type(), Olds: object("a", "1"), News: object("a", "1"), OldOutputs: object("b", "2"),
		RandomSeed: []byte("seed"), Autonaming: &providers.Autonaming{ProposedName: "n"},
	}
}

func diffRequest() providers.DiffRequest {
	return providers.DiffRequest{
		URN: thingURN, Name: "web", Type: thingURN.Type(), ID: "i", OldInputs: object("a", "1"), OldOutputs: object("b", "2"), NewInputs: object("a", "1"),
		IgnoreChanges: []string{"x"},
	}
}

// changedChecks are requests that differ in one argument each.
func changedChecks() map[string]func(*providers.CheckRequest) {
	return map[string]func(*providers.CheckRequest){
		"URN":          func(q *providers.CheckRequest) { q.URN += "x" },
		"name":         func(q *providers.CheckRequest) { q.Name += "x" },
		"type":         func(q *providers.CheckRequest) { q.Type += "x" },
		"olds":         func(q *providers.CheckRequest) { q.Olds = object("a", "2") },
		"news":         func(q *providers.CheckRequest) { q.News = object("a", "2") },
		"a secret":     func(q *providers.CheckRequest) { q.News = object("a", property.Secret(property.String("1"))) },
		"a null":       func(q *providers.CheckRequest) { q.News = object("a", "1", "z", property.Null) },
		"outputs":      func(q *providers.CheckRequest) { q.OldOutputs = property.Map{} },
		"seed":         func(q *providers.CheckRequest) { q.RandomSeed = []byte("other") },
		"no autoname":  func(q *providers.CheckRequest) { q.Autonaming = nil },
		"another name": func(q *providers.CheckRequest) { q.Autonaming = &providers.Autonaming{ProposedName: "m"} },
		"another mode": func(q *providers.CheckRequest) {
			q.Autonaming = &providers.Autonaming{ProposedName: "n", Mode: providers.AutonamingEnforce}
		},
		"a warning": func(q *providers.CheckRequest) {
			q.Autonaming = &providers.Autonaming{ProposedName: "n", WarnIfUnsupported: true}
		},
	}
}

func changedDiffs() map[string]func(*providers.DiffRequest) {
	return map[string]func(*providers.DiffRequest){
		"URN":        func(q *providers.DiffRequest) { q.URN += "x" },
		"name":       func(q *providers.DiffRequest) { q.Name += "x" },
		"type":       func(q *providers.DiffRequest) { q.Type += "x" },
		"ID":         func(q *providers.DiffRequest) { q.ID += "x" },
		"old inputs": func(q *providers.DiffRequest) { q.OldInputs = object("a", "2") },
		"outputs":    func(q *providers.DiffRequest) { q.OldOutputs = property.Map{} },
		"new inputs": func(q *providers.DiffRequest) { q.NewInputs = object("a", "2") },
		"ignored":    func(q *providers.DiffRequest) { q.IgnoreChanges = nil },
	}
}

// changedProviders are other providers than that of the first run.
func changedProviders() map[string]func(*phase) {
	return map[string]func(*phase){
		"version":       func(ph *phase) { ph.spec.Version = "2.0.0" },
		"configuration": func(ph *phase) { ph.config = object("region", "us") },
		"checksum":      func(ph *phase) { ph.spec.Checksums = map[string][]byte{"linux-amd64": []byte("s")} },
	}
}

func firstPhase(o providers.RegistryOptions) phase {
	return phase{spec: providers.Spec{Version: "1.0.0"}, config: object("region", "eu"), options: o}
}

func TestAnUpdateGetsTheAnswersOfItsPreview(t *testing.T) {
	h := &counting{}
	o := providers.RegistryOptions{Answers: providers.NewAnswers(nil)}
	ask := func(ph phase, check providers.CheckRequest, diff providers.DiffRequest) string {
		p := ph.open(t, h)
		c, err := p.Check(t.Context(), check)
		require.NoError(t, err)
		require.True(t, property.IdenticalMaps(check.News, c.Inputs))
		d, err := p.Diff(t.Context(), diff)
		require.NoError(t, err)
		require.Equal(t, property.EqualMaps(diff.OldInputs, diff.NewInputs), d.Changes == providers.DiffNone)
		return h.taken()
	}
	preview := checkRequest()
	preview.AllowUnknowns = true
	require.Equal(t, "Load Configure Check Diff", ask(firstPhase(o), preview, diffRequest()))
	require.Equal(t, "Load Configure", ask(firstPhase(o), checkRequest(), diffRequest()))
	for name, change := range changedChecks() {
		q := checkRequest()
		change(&q)
		require.Equal(t, "Load Configure Check", ask(firstPhase(o), q, diffRequest()), name)
	}
	for name, change := range changedDiffs() {
		q := diffRequest()
		change(&q)
		require.Equal(t, "Load Configure Diff", ask(firstPhase(o), checkRequest(), q), name)
	}
	for name, change := range changedProviders() {
		ph := firstPhase(o)
		change(&ph)
		require.Equal(t, "Load Configure Check Diff", ask(ph, checkRequest(), diffRequest()), name)
	}
}

func TestAnUpdateWithoutChangesStartsNoProvider(t *testing.T) {
	h := &counting{}
	o := providers.RegistryOptions{Answers: providers.NewAnswers(nil)}
	run := func() string {
		r := newRegistry(t, h, o)
		inputs := firstPhase(o).spec.Inputs(object("region", "eu"))
		answer, err := r.Resources().Check(t.Context(), providers.CheckRequest{URN: providerURN, Type: providerType, Olds: inputs, News: inputs})
		require.NoError(t, err)
		require.True(t, property.IdenticalMaps(inputs, answer.Inputs))
		d, err := r.Resources().Diff(t.Context(), providers.DiffRequest{URN: providerURN, Type: providerType, ID: "id", OldInputs: inputs, NewInputs: inputs})
		require.NoError(t, err)
		require.Equal(t, providers.DiffSome, d.Changes) // outputs are missing
		ref := urn.ProviderRef{URN: providerURN, ID: "id"}
		require.NoError(t, r.Same(t.Context(), ref, inputs))
		p, _ := r.Lookup(ref)
		_, err = p.Check(t.Context(), checkRequest())
		require.NoError(t, err)
		require.NoError(t, r.Close())
		return h.taken()
	}
	require.Equal(t, "Load CheckConfig DiffConfig Configure Check", run())
	require.Equal(t, "Load Configure", run())
	o.Answers.Complete()
	require.Empty(t, run())
}

func TestWhatIsUnknownRefusedOrFailedIsAskedAgain(t *testing.T) {
	errBusy := errors.New("busy")
	for name, check := range map[string]func(providers.CheckRequest) (providers.CheckResponse, error){
		"unknown": func(q providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{Inputs: object("a", property.Computed())}, nil
		},
		"refused": func(q providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{Failures: []providers.CheckFailure{{Reason: "no"}}}, nil
		},
		"failed": func(q providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{}, errBusy
		},
	} {
		h := &counting{check: check}
		p := firstPhase(providers.RegistryOptions{Answers: providers.NewAnswers(nil)}).open(t, h)
		for range 2 {
			_, _ = p.Check(t.Context(), checkRequest())
		}
		require.Equal(t, "Load Configure Check Check", h.taken(), name)
	}
}

func TestPackagesThatLookOutsideAreAlwaysAsked(t *testing.T) {
	for _, pkg := range []string{"kubernetes", "docker", "docker-build", "time", "tls", "pulumi", providers.DynamicNodejs, providers.DynamicPython} {
		h := &counting{}
		ph := firstPhase(providers.RegistryOptions{Answers: providers.NewAnswers(nil)})
		r := newRegistry(t, h, ph.options)
		ref := urn.ProviderRef{URN: urn.New("dev", "p", "", urn.Type("pulumi:providers:"+pkg), "k"), ID: "id"}
		require.NoError(t, r.Same(t.Context(), ref, property.Map{}))
		p, _ := r.Lookup(ref)
		for range 2 {
			_, err := p.Diff(t.Context(), diffRequest())
			require.NoError(t, err)
		}
		require.Equal(t, "Load Configure Diff Diff", h.taken(), pkg)
	}
}

// recordedRun is a run with the answers of the runs before it.
type recordedRun struct {
	encoded []byte
	wrong   []string
}

func (r *recordedRun) options(t *testing.T, change func(*providers.RecordedOptions)) (*providers.RecordedAnswers, providers.RegistryOptions) {
	t.Helper()
	o := providers.RecordedOptions{
		Key: []byte("key"), Now: time.Unix(1000, 0), Applies: func(string, urn.Type) bool { return true },
		Identify: func(providers.Spec) (string, bool) { return "plugin", true },
		Wrong:    func(u urn.URN, pkg string, m providers.Method) { r.wrong = append(r.wrong, pkg+" "+string(m)) },
	}
	if change != nil {
		change(&o)
	}
	a, err := providers.NewRecordedAnswers(o, r.encoded)
	require.NoError(t, err)
	return a, providers.RegistryOptions{Recorded: a}
}

// ask makes a run with one resource, and returns the calls.
func (r *recordedRun) ask(
	t *testing.T, h *counting, options func(*providers.RecordedOptions), ph func(*phase), check providers.CheckRequest, diff providers.DiffRequest,
) string {
	t.Helper()
	recorded, o := r.options(t, options)
	of := firstPhase(o)
	if ph != nil {
		ph(&of)
	}
	p := of.open(t, h)
	c, err := p.Check(t.Context(), check)
	require.NoError(t, err)
	require.True(t, property.IdenticalMaps(check.News, c.Inputs))
	_, err = p.Diff(t.Context(), diff)
	require.NoError(t, err)
	r.encoded = recorded.Encode()
	return h.taken()
}

func TestWhatHasNotChangedIsNotAskedInTheNextRun(t *testing.T) {
	h, r := &counting{}, &recordedRun{}
	require.Equal(t, "Load Configure Check Diff", r.ask(t, h, nil, nil, checkRequest(), diffRequest()))
	require.Empty(t, r.ask(t, h, nil, nil, checkRequest(), diffRequest()), "the provider is not started")
	require.Empty(t, r.ask(t, h, nil, nil, checkRequest(), diffRequest()), "the answers are kept")
	kept := r.encoded
	restore := func() { r.encoded = kept }

	for name, change := range changedChecks() {
		q := checkRequest()
		change(&q)
		require.Contains(t, r.ask(t, h, nil, nil, q, diffRequest()), "Load Configure Check", name)
		restore()
	}
	for name, change := range changedDiffs() {
		q := diffRequest()
		change(&q)
		require.Contains(t, r.ask(t, h, nil, nil, checkRequest(), q), "Load Configure Diff", name)
		restore()
	}
	for name, change := range changedProviders() {
		require.Equal(t, "Load Configure Check Diff", r.ask(t, h, nil, change, checkRequest(), diffRequest()), name)
		restore()
	}
	for name, change := range map[string]func(*providers.RecordedOptions){
		"another plugin": func(o *providers.RecordedOptions) {
			o.Identify = func(providers.Spec) (string, bool) { return "other", true }
		},
		"another key":   func(o *providers.RecordedOptions) { o.Key = []byte("other") },
		"too old":       func(o *providers.RecordedOptions) { o.Oldest = time.Unix(1001, 0) },
		"not this type": func(o *providers.RecordedOptions) { o.Applies = func(string, urn.Type) bool { return false } },
		"unknown plugin": func(o *providers.RecordedOptions) {
			o.Identify = func(providers.Spec) (string, bool) { return "", false }
		},
		"always verified": func(o *providers.RecordedOptions) { o.Sampled = func(urn.URN) bool { return true } },
	} {
		require.Equal(t, "Load Configure Check Diff", r.ask(t, h, change, nil, checkRequest(), diffRequest()), name)
		restore()
	}
	require.Empty(t, r.wrong)
}

func TestASecondAnswerIsFoundBySampling(t *testing.T) {
	h, r := &counting{}, &recordedRun{}
	r.ask(t, h, nil, nil, checkRequest(), diffRequest())
	h.diff = func(providers.DiffRequest) (providers.DiffResponse, error) {
		return providers.DiffResponse{Changes: providers.DiffSome}, nil
	}
	require.Empty(t, r.ask(t, h, nil, nil, checkRequest(), diffRequest()))
	all := func(o *providers.RecordedOptions) { o.Sampled = func(urn.URN) bool { return true } }
	require.Equal(t, "Load Configure Check Diff", r.ask(t, h, all, nil, checkRequest(), diffRequest()))
	require.Equal(t, []string{"simple diff"}, r.wrong)
	require.Equal(t, "Load Configure Check Diff", r.ask(t, h, nil, nil, checkRequest(), diffRequest()), "the answers are forgotten")
}

// A seed with which a new object was perhaps made is not used again: the next new object would get the same name.
func TestTheSeedOfAChangedResourceIsNotKept(t *testing.T) {
	h, r := &counting{}, &recordedRun{}
	recorded, o := r.options(t, nil)
	p := firstPhase(o).open(t, h)
	_, err := p.Check(t.Context(), checkRequest())
	require.NoError(t, err)
	_, err = p.Diff(t.Context(), diffRequest())
	require.NoError(t, err)
	r.encoded = recorded.Encode()
	recorded, o = r.options(t, nil)
	require.Equal(t, []byte("seed"), recorded.Seed(thingURN))

	anew := checkRequest()
	anew.Olds, anew.OldOutputs = property.Map{}, property.Map{}
	p = firstPhase(o).open(t, h)
	for _, q := range []providers.CheckRequest{checkRequest(), anew} { // and it is replaced with another resource
		_, err = p.Check(t.Context(), q)
		require.NoError(t, err)
	}
	_, err = p.Diff(t.Context(), diffRequest())
	require.NoError(t, err)
	r.encoded = recorded.Encode()
	recorded, _ = r.options(t, nil)
	require.Nil(t, recorded.Seed(thingURN))
}

func TestDamagedAnswersAreNotUsed(t *testing.T) {
	h, r := &counting{}, &recordedRun{}
	r.ask(t, h, nil, nil, checkRequest(), diffRequest())
	o := providers.RecordedOptions{Key: []byte("key")}
	for cut := 1; cut < len(r.encoded); cut++ {
		a, err := providers.NewRecordedAnswers(o, r.encoded[:cut])
		if cut == len("sluice answers 1") || cut == len("sluice answers 1\n") {
			continue // no answers
		}
		require.Error(t, err, cut)
		require.Nil(t, a.Seed(thingURN))
	}
	wrong := slices.Clone(r.encoded)
	wrong[len("sluice answers 1\n")] = 'x'
	_, err := providers.NewRecordedAnswers(o, wrong)
	require.Error(t, err)
}

// The error of the configuration is that of the first call that needs it.
func TestADeferredProviderIsConfiguredBeforeItIsCalled(t *testing.T) {
	h, r := &counting{}, &recordedRun{}
	r.ask(t, h, nil, nil, checkRequest(), diffRequest())
	errRefused := errors.New("refused")
	_, o := r.options(t, nil)
	p := firstPhase(o).open(t, providers.HostFunc(func(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
		inner, err := h.Load(ctx, spec)
		return providers.Intercept(inner, func(ctx context.Context, c *providers.Call) error {
			if c.Method == "Configure" {
				h.count("Configure")
				return errRefused
			}
			return c.Do(ctx)
		}), err
	}))
	_, err := p.Check(t.Context(), checkRequest())
	require.NoError(t, err)
	_, err = p.Create(t.Context(), providers.CreateRequest{URN: thingURN, Type: thingURN.Type()})
	require.ErrorIs(t, err, errRefused)
	require.ErrorContains(t, err, `configure provider "main" (simple 1.0.0)`)
	_, err = p.Create(t.Context(), providers.CreateRequest{URN: thingURN, Type: thingURN.Type()})
	require.ErrorIs(t, err, errRefused)
	require.Equal(t, "Load Configure", h.taken(), "it is configured once")
}
