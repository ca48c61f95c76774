package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// RegistryOptions configure the [Registry] of a run. The zero value is usable.
type RegistryOptions struct {
	// ReadLimit is the maximum number of calls of Check, Diff and Read of resources at once; 0 is any number. Limits bound the
	// calls of resources and functions too: a call waits for each, in this order. Waiting is called when calls have waited for a
	// limit for longer than a second, and again when none waits for it any more; it may be nil. It must not block.
	ReadLimit int
	Limits    []*Limits
	Waiting   func(limit string, waiting bool)
	// DuringWait is called for each call that waits for a limit, however short; its result is called when the wait is over. It may be nil.
	// It must not block.
	DuringWait func(ctx context.Context, call LimitedCall) (over func())
	// Answers are those of the preview before an update, and Recorded those of earlier runs; nil calls providers each time.
	Answers  *Answers
	Recorded *RecordedAnswers
	// Warn is called when a provider breaks a rule. It may be called from many goroutines; nil discards.
	Warn func(u urn.URN, message string)
	// NewID makes the IDs of provider resources; nil makes random UUIDs.
	NewID func(u urn.URN) string
	// EchoInputs makes previewed creates and updates of a provider whose configuration is unknown return their inputs
	// instead of nothing (PULUMI_LEGACY_PROVIDER_PREVIEW, protocol.md 3.2).
	EchoInputs bool
}

func (o RegistryOptions) runLimits() runLimits {
	r := runLimits{waits: newLimitWaits(o.Waiting), during: o.DuringWait}
	for _, l := range o.Limits {
		if l != nil && len(l.rules) > 0 {
			r.all = append(r.all, l)
		}
	}
	if o.ReadLimit > 0 {
		reads, _ := NewLimits(Rule{Name: "reads", Methods: []Method{MethodReads}, Parallel: o.ReadLimit}) // which is a valid rule
		r.all = append(r.all, reads)
	}
	return r
}

func newLimitWaits(report func(string, bool)) *limitWaits {
	w := &limitWaits{of: map[string]*limitWait{}, report: report}
	w.canceled, w.cancel = context.WithCancelCause(context.Background())
	return w
}

// Registry owns the provider instances of one run. [Registry.Resources] is the provider of provider resources ([steps.md 3.13]):
// its Check starts a plugin, its Create, Update and [Registry.Same] configure it and make it available to [Registry.Lookup].
//
// Configuration happens in the background, so that many providers start at once: Create, Update, Same and Ensure return
// when it has begun. Each resource call on a looked-up provider waits until it is over, and gets its error.
//
// All methods may be called from many goroutines. For one URN the engine calls them in the order of that resource's
// steps; Ensure and Lookup may come at any time.
//
// [steps.md 3.13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#313-provider-resources
type Registry struct {
	host    Host
	options RegistryOptions
	limits  runLimits
	// resources is the provider of provider resources.
	resources *resources
	// run is the life of the registry. Starting and configuring a provider belongs to the run and not to the first call
	// that needs it: others wait for the same instance.
	run     context.Context
	end     context.CancelCauseFunc
	workers conc.WaitGroup

	mu      sync.Mutex // guards the fields below, up to closed
	ready   map[urn.ProviderRef]*instance
	checked map[urn.URN]*instance // started by Check and not configured
	renamed map[urn.URN]urn.URN   // old URN -> the present one
	running []*instance           // all instances that have been started and not closed
	// configuring are the instances whose configuration has begun, including those unloaded since.
	configuring []*instance
	named       map[string]bool // the DownloadURLs that the program names
	ahead       ahead
	closed      bool

	starts   await.Flight[urn.ProviderRef, *instance] // of Ensure; the started ones are in ready
	recorded await.Flight[urn.ProviderRef, *instance] // of Recorded, beside those in ready
}

var errRegistryClosed = errors.New("the run is over: no more providers are started")

// NewRegistry returns a registry that starts providers through host. When ctx ends, providers that are being started or
// configured are abandoned; calls of resources have contexts of their own. The caller must call [Registry.Close].
func NewRegistry(ctx context.Context, host Host, o RegistryOptions) *Registry {
	if o.Warn == nil {
		o.Warn = func(urn.URN, string) {}
	}
	if o.NewID == nil {
		o.NewID = func(urn.URN) string { return uuid.NewString() }
	}
	r := &Registry{
		host:    host,
		options: o,
		limits:  o.runLimits(),
		ready:   map[urn.ProviderRef]*instance{},
		checked: map[urn.URN]*instance{},
		renamed: map[urn.URN]urn.URN{},
		named:   map[string]bool{},
		ahead:   ahead{},
	}
	r.resources = &resources{Unimplemented: Unimplemented{PackageName: "pulumi"}, registry: r}
	r.run, r.end = context.WithCancelCause(ctx)
	return r
}

// ReadLimit returns the maximum number of calls of Check, Diff and Read of resources at once; 0 is any number.
func (r *Registry) ReadLimit() int { return max(r.options.ReadLimit, 0) }

// Lookup returns the provider that ref names if it has been configured, or is being configured, in this run. A reference
// to the old URN of a renamed provider returns the renamed one (see [Registry.Alias]). The provider stays usable until
// its resource is deleted or the registry is closed; its Close does nothing.
func (r *Registry) Lookup(ref urn.ProviderRef) (Provider, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.find(ref)
	if !ok {
		return nil, false
	}
	return i, true
}

// find prefers the new name: its instance is the one that this run registered. r.mu must be held.
func (r *Registry) find(ref urn.ProviderRef) (*instance, bool) {
	if now, ok := r.renamed[ref.URN]; ok {
		if i, ok := r.ready[urn.ProviderRef{URN: now, ID: ref.ID}]; ok {
			return i, true
		}
	}
	i, ok := r.ready[ref]
	return i, ok
}

// Alias records that the provider resource with URN old has the URN renamed in this run, so that recorded references with
// the old name find it ([steps.md 2.5]).
//
// [steps.md 2.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#25-what-an-alias-changes
func (r *Registry) Alias(old, renamed urn.URN) {
	if old == renamed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.renamed[old] = renamed
}

// Name records that the program names the place from which a plugin can be downloaded. For other places [Spec].Recorded
// is true. "" is ignored.
func (r *Registry) Name(downloadURL string) {
	if downloadURL == "" { // the usual case
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.named[strings.TrimSuffix(downloadURL, "/")] = true
}

func (r *Registry) isNamed(downloadURL string) bool {
	if downloadURL == "" {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.named[strings.TrimSuffix(downloadURL, "/")]
}

// load returns a provider that was started ahead, or starts one.
func (r *Registry) load(ctx context.Context, spec Spec) (*instance, error) {
	if started, ok := r.takeAhead(spec); ok {
		return started.Wait(ctx)
	}
	return r.launch(ctx, spec)
}

// launch starts a provider and keeps it for Close.
func (r *Registry) launch(ctx context.Context, spec Spec) (*instance, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(r.run, func() { cancel(context.Cause(r.run)) })
	defer stop()

	spec.Recorded = !r.isNamed(spec.DownloadURL)
	start := func(ctx context.Context) (Provider, error) { return loadFrom(ctx, r.host, spec) }
	recorder := r.options.Recorded.recorderFor(spec)
	var p Provider
	if recorder.hasAnswers() || r.options.Answers.suffice(spec) {
		p = &deferred{spec: spec, run: r.run, load: start}
	} else {
		var err error
		if p, err = start(ctx); err != nil {
			return nil, err
		}
	}
	i := newInstance(p, spec, &r.options, r.limits, recorder)

	r.mu.Lock()
	closed := r.closed
	if !closed {
		r.running = append(r.running, i)
	}
	r.mu.Unlock()
	if closed {
		_ = i.shut()
		return nil, errRegistryClosed
	}
	return i, nil
}

// loadFrom calls the host. An error in a caller's host must not end the process, nor lead to a nil provider.
func loadFrom(ctx context.Context, h Host, spec Spec) (p Provider, err error) {
	if caught := panics.Try(func() { p, err = h.Load(ctx, spec) }); caught != nil {
		return nil, fmt.Errorf("the host of providers panicked when it loaded package %q: %v", spec.Package, caught.Value)
	}
	if p == nil && err == nil {
		return nil, fmt.Errorf("the host of providers returned neither a provider nor an error for package %q", spec.Package)
	}
	return p, err
}

// configuration are the arguments of configure.
type configuration struct {
	ref    urn.ProviderRef
	inputs property.Map
}

// install makes i the instance that c.ref names, begins to configure it and returns it. If there is one already and replace
// is false, i is closed and the present one is returned. If replace is true, callers that hold the former one can still use
// it.
func (r *Registry) install(i *instance, c configuration, replace bool) *instance {
	r.mu.Lock()
	if there, ok := r.ready[c.ref]; ok && !replace {
		r.mu.Unlock()
		r.unload(i)
		return there
	}
	r.ready[c.ref] = i
	r.beginConfiguring(i, c)
	r.mu.Unlock()
	return i
}

// beginConfiguring configures a provider in the background. r.mu must be held.
func (r *Registry) beginConfiguring(i *instance, c configuration) {
	i.ref, i.inputs, i.recorder = c.ref, c.inputs, i.plain.configured(c.ref.URN, c.inputs)
	if hasUnknownConfiguration(c.inputs) {
		i.unconfigured = &unconfiguredAnswers{echoInputs: r.options.EchoInputs}
		i.configured.Resolve(struct{}{})
	}
	switch {
	case r.closed:
		i.configured.Fail(errRegistryClosed)
	case i.unconfigured == nil:
		// Configuring counts as a call: a provider that is unloaded meanwhile is closed only afterwards.
		if err := i.begin(); err != nil {
			i.configured.Fail(err)
			break
		}
		r.configuring = append(r.configuring, i)
		r.workers.Go(func() {
			defer i.end()
			defer i.configured.Fail(errExited) // if configure does not return
			i.configured.Decide(struct{}{}, r.configure(i, c))
		})
	}
}

func (r *Registry) configure(i *instance, c configuration) error {
	req := ConfigureRequest{
		URN: c.ref.URN, Name: c.ref.URN.Name(), Type: c.ref.URN.Type(), ID: c.ref.ID, Inputs: Configuration(c.inputs),
	}
	if !c.ref.IsKnown() { // in a preview: the ID is that of the update, which has the same entropy and goes on with the same plugin
		req.ID = r.options.NewID(c.ref.URN)
	}
	return configure(r.run, i.Provider, i.spec, req)
}

// configure configures a provider. A panic of one in process is an error, too: every call that waits for the result must get one.
func configure(ctx context.Context, p Provider, spec Spec, req ConfigureRequest) (err error) {
	if p := tryPanics(func() { err = p.Configure(ctx, req) }); p != nil {
		err = p
	}
	var uncertain *UncertainError
	if errors.As(err, &uncertain) {
		err = uncertain.Err // the calls that get this error were certainly not made
	}
	if err != nil {
		return fmt.Errorf("configure provider %q (%s): %w", req.URN.Name(), spec.name(), err)
	}
	return nil
}

// takeChecked removes and returns the instance that Check started, if there is one.
func (r *Registry) takeChecked(u urn.URN) (*instance, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.checked[u]
	delete(r.checked, u)
	return i, ok
}

// unload removes an instance and closes it when its last call has returned.
func (r *Registry) unload(i *instance) {
	r.mu.Lock()
	if n := slices.Index(r.running, i); n >= 0 {
		r.running = slices.Delete(r.running, n, n+1)
	}
	r.mu.Unlock()
	r.background(i.retire)
}

// background runs f on a goroutine that Close waits for. After Close has begun it does not wait for more, so f runs
// here.
func (r *Registry) background(f func()) {
	r.mu.Lock()
	closed := r.closed
	if !closed {
		r.workers.Go(f)
	}
	r.mu.Unlock()
	if closed {
		f()
	}
}

// Resources returns the provider of provider resources: its Check starts a provider, Create and Update configure it.
func (r *Registry) Resources() Provider { return r.resources }

// Same makes the provider of an unchanged provider resource available. inputs are those of the recorded state: a change
// that the provider considers meaningless does not reach it ([steps.md 3.13]). The checked instance is used if there is
// one. A reference that [Registry.Ensure] has already made available keeps its instance, which has the same
// configuration.
//
// [steps.md 3.13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#313-provider-resources
func (r *Registry) Same(ctx context.Context, ref urn.ProviderRef, inputs property.Map) error {
	if i, ok := r.takeChecked(ref.URN); ok {
		r.install(i, configuration{ref: ref, inputs: inputs}, false)
		return nil
	}
	if _, err := r.Ensure(ctx, ref, inputs); err != nil {
		return fmt.Errorf("bad provider state for resource %v: %w", ref.URN, err)
	}
	return nil
}

// Ensure returns the provider that ref names. If it is not there it is started and configured with the inputs of its
// recorded state ([steps.md 3.3]). It never touches an instance that Check has started for the same URN (ORD-10), and
// concurrent calls for one reference start one provider. A failure is not kept.
//
// [steps.md 3.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#33-which-provider
func (r *Registry) Ensure(ctx context.Context, ref urn.ProviderRef, inputs property.Map) (Provider, error) {
	if p, ok := r.Lookup(ref); ok {
		return p, nil
	}
	i, err := r.starts.DoOn(ctx, r.background, ref, func() (*instance, error) {
		defer r.starts.Forget(ref)
		return r.start(ref, inputs)
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Recorded is like Ensure for a provider with the configuration inputs of its recorded state. If the run has given it another
// configuration, a second instance is started beside the one that Lookup returns.
func (r *Registry) Recorded(ctx context.Context, ref urn.ProviderRef, inputs property.Map) (Provider, error) {
	p, err := r.Ensure(ctx, ref, inputs)
	if err != nil || property.EqualMaps(p.(*instance).inputs, inputs) {
		return p, err
	}
	i, err := r.recorded.DoOn(ctx, r.background, ref, func() (*instance, error) {
		i, err := r.loadFor(r.run, ref, inputs)
		if err != nil {
			r.recorded.Forget(ref)
			return nil, err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.beginConfiguring(i, configuration{ref: ref, inputs: inputs})
		return i, nil
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// start checks again before it starts anything: another start may have ended since the caller checked.
func (r *Registry) start(ref urn.ProviderRef, inputs property.Map) (*instance, error) {
	r.mu.Lock()
	i, ok := r.find(ref)
	closed := r.closed
	r.mu.Unlock()
	switch {
	case ok:
		return i, nil
	case closed:
		return nil, errRegistryClosed
	}
	i, err := r.loadFor(r.run, ref, inputs)
	if err != nil {
		return nil, err
	}
	return r.install(i, configuration{ref: ref, inputs: inputs}, false), nil
}

// loadFor starts a provider for a reference. Errors name it.
func (r *Registry) loadFor(ctx context.Context, ref urn.ProviderRef, inputs property.Map) (*instance, error) {
	spec, err := SpecFromInputs(ref.URN.Type(), inputs)
	if err != nil {
		return nil, fmt.Errorf("could not create provider %v: %w", ref, err)
	}
	var i *instance
	if p := tryPanics(func() { i, err = r.load(ctx, spec) }); p != nil {
		err = p
	}
	if err != nil {
		return nil, fmt.Errorf("could not create provider %v: %w", ref, err)
	}
	return i, nil
}

// errNotAsked is the error of calls that wait for limits when the providers are cancelled.
var errNotAsked = errors.New("the operation was cancelled while this waited for a limit; the provider was not called")

// StartAhead begins to start a provider for each spec, in the background. The next request for a provider with an equal spec
// gets that one, with its error if it could not be started. A provider that is not needed is closed with the registry, and its
// error is dropped.
func (r *Registry) StartAhead(specs ...Spec) {
	for _, spec := range specs {
		key := spec.Key()
		r.mu.Lock()
		if !r.closed {
			started := await.NewPromise[*instance]()
			r.ahead[key] = append(r.ahead[key], started)
			r.workers.Go(func() {
				defer started.Fail(errExited) // if launch does not return
				started.Decide(r.launch(r.run, spec))
			})
		}
		r.mu.Unlock()
	}
}

// takeAhead returns a provider that was started ahead for a spec and has not been taken.
func (r *Registry) takeAhead(spec Spec) (*await.Promise[*instance], bool) {
	key := spec.Key()
	r.mu.Lock()
	defer r.mu.Unlock()
	there := r.ahead[key]
	if len(there) == 0 {
		return nil, false
	}
	r.ahead[key] = there[1:]
	return there[0], true
}

// Cancel asks every provider, all at once, to abort its work. Calls that wait for limits end with an error, without having been
// made, and no later call waits. It returns when all have answered or ctx has ended; the engine gives it 30 seconds
// ([protocol.md 1.13]). A provider without Cancel counts as having answered.
//
// [protocol.md 1.13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#113-end
func (r *Registry) Cancel(ctx context.Context) error {
	r.limits.waits.cancel(errNotAsked)
	return r.onAll(func(i *instance) error {
		err := i.Provider.Cancel(ctx)
		if errors.Is(err, ErrUnsupported) {
			return nil
		}
		return err
	})
}

// Close abandons providers that are being started, closes every provider, all at once and even if calls are under way, and
// waits until no goroutine of the registry runs any more. A second call does nothing.
func (r *Registry) Close() error {
	r.mu.Lock()
	again := r.closed
	r.closed = true
	r.mu.Unlock()
	r.end(errRegistryClosed)
	r.limits.waits.quiet()
	r.limits.waits.cancel(errRegistryClosed)
	var err error
	if !again {
		err = r.onAll((*instance).shut)
	}
	return errors.Join(err, tryPanics(r.workers.Wait))
}

// LimitWaits returns the limits for which calls have waited for longer than a second in all, the longest wait first.
func (r *Registry) LimitWaits() []LimitWait { return r.limits.waits.long() }

// onAll runs f for every running provider and joins the errors in the order of their texts, because the order in which
// providers start is not always the same.
func (r *Registry) onAll(f func(*instance) error) error {
	r.mu.Lock()
	all := slices.Clone(r.running)
	r.mu.Unlock()

	errs := make([]error, len(all))
	var wg conc.WaitGroup
	for n, i := range all {
		wg.Go(func() {
			var err error
			if p := tryPanics(func() { err = f(i) }); p != nil {
				err = p
			}
			if err != nil {
				errs[n] = fmt.Errorf("provider %s: %w", i.name(), err)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(errs, compareErrors)
	return errors.Join(errs...)
}

func compareErrors(a, b error) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	case a.Error() < b.Error():
		return -1
	case a.Error() > b.Error():
		return 1
	}
	return 0
}

// WaitConfigured waits until no provider is being configured any more, or ctx ends. A run that ends in order calls it before
// [Registry.Close], which abandons work under way: whether a provider has been configured must not depend on how soon the
// run ended, nor on whether its resource was deleted meanwhile. An error of a configuration belongs to the calls that waited
// for it; if there were none it is a warning, in the order of URNs.
func (r *Registry) WaitConfigured(ctx context.Context) {
	r.mu.Lock()
	begun := slices.Clone(r.configuring)
	r.mu.Unlock()
	slices.SortStableFunc(begun, func(a, b *instance) int { return cmp.Compare(a.ref.URN, b.ref.URN) })
	for _, i := range begun {
		_, err := i.configured.Wait(ctx)
		if err != nil && i.configured.Decided() && !i.isUsed() {
			r.options.Warn(i.ref.URN, fmt.Sprintf("%v; nothing used this provider, so no resource is affected", err))
		}
	}
}

// ahead holds the providers that were started before they were needed, by their specs.
type ahead map[string][]*await.Promise[*instance]

// errExited is the error of a provider in process that ends the goroutine instead of returning.
var errExited = errors.New("the provider called runtime.Goexit, as testing.T.FailNow does; it must return")

// tryPanics returns a panic of f as an error.
func tryPanics(f func()) error {
	if p := panics.Try(f); p != nil {
		return p.AsError()
	}
	return nil
}
