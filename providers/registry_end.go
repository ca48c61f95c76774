package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"
)

// Cancel asks every provider, all at once, to abort its work. Calls that wait for limits end with an error, without having been
// made, and no later call waits. It returns when all have answered or ctx has ended; the engine gives it 30 seconds (protocol.md
// 1.13). A provider without Cancel counts as having answered.
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

// tryPanics returns a panic of f as an error.
func tryPanics(f func()) error {
	if p := panics.Try(f); p != nil {
		return p.AsError()
	}
	return nil
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
