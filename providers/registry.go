package providers

import (
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

func newLimitWaits(tell func(string, bool)) *limitWaits {
	w := &limitWaits{of: map[string]*limitWait{}, tell: tell}
	w.canceled, w.cancel = context.WithCancelCause(context.Background())
	return w
}

// Registry owns the provider instances of one run. It is the provider of provider resources (steps.md 3.13): its Check
// starts a plugin, its Create, Update and [Registry.Same] configure it and make it available to [Registry.Lookup]. It
// satisfies [Provider]; the methods that make no sense for provider resources return errors.
//
// Configuration happens in the background, so that many providers start at once: Create, Update, Same and Ensure return
// when it has begun. Each resource call on a looked-up provider waits until it is over, and gets its error.
//
// All methods may be called from many goroutines. For one URN the engine calls them in the order of that resource's
// steps; Ensure and Lookup may come at any time.
type Registry struct {
	Unimplemented
	host    Host
	options RegistryOptions
	limits  runLimits
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

var _ Provider = (*Registry)(nil)

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
		Unimplemented: Unimplemented{PackageName: "pulumi"},
		host:          host,
		options:       o,
		limits:        o.runLimits(),
		ready:         map[urn.ProviderRef]*instance{},
		checked:       map[urn.URN]*instance{},
		renamed:       map[urn.URN]urn.URN{},
		named:         map[string]bool{},
		ahead:         ahead{},
	}
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
// the old name find it (steps.md 2.5).
func (r *Registry) Alias(old, renamed urn.URN) {
	if old == renamed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.renamed[old] = renamed
}

// IsUnconfigured reports whether ref names a provider that is not configured because its configuration is unknown in
// this preview (protocol.md 3.2). Construct on such a provider returns [ErrConfigurationUnknown].
func (r *Registry) IsUnconfigured(ref urn.ProviderRef) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.find(ref)
	return ok && i.unconfigured != nil
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
	p, err := loadFrom(ctx, r.host, spec)
	if err != nil {
		return nil, err
	}
	i := newInstance(p, spec, r.limits)

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
	i.ref, i.inputs = c.ref, c.inputs
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
			i.configured.Decide(struct{}{}, r.configure(i, c))
		})
	}
}

// configure returns a panic of an in-process provider as an error: every call that waits for the result must get one.
func (r *Registry) configure(i *instance, c configuration) (err error) {
	req := ConfigureRequest{
		URN: c.ref.URN, Name: c.ref.URN.Name(), Type: c.ref.URN.Type(), Inputs: Configuration(c.inputs),
	}
	if c.ref.IsKnown() {
		req.ID = c.ref.ID
	}
	if p := tryPanics(func() { err = i.Provider.Configure(r.run, req) }); p != nil {
		err = p
	}
	var uncertain *UncertainError
	if errors.As(err, &uncertain) {
		err = uncertain.Err // the calls that get this error were certainly not made
	}
	if err != nil {
		return fmt.Errorf("configure provider %q (%s): %w", c.ref.URN.Name(), i.name(), err)
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
