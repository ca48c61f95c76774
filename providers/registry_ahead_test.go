package providers_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/stretchr/testify/require"
)

// slowHost counts the providers that it starts and those of them that are closed. Each start takes a second.
type slowHost struct {
	providers.Host
	started, closed atomic.Int32
	fail            error
}

type closing struct {
	providers.Provider
	closed *atomic.Int32
}

func (c closing) Close() error {
	c.closed.Add(1)
	return c.Provider.Close()
}

func (h *slowHost) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	h.started.Add(1)
	time.Sleep(time.Second)
	if h.fail != nil {
		return nil, h.fail
	}
	p, err := h.Host.Load(ctx, spec)
	return closing{p, &h.closed}, err
}

func newSlowHost() *slowHost {
	return &slowHost{Host: providertest.NewCloud(providertest.Options{}).Host()}
}

func TestWhatIsStartedAheadIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newSlowHost()
		r := newRegistry(t, host, providers.RegistryOptions{})
		spec := providers.Spec{Package: "simple", Version: "1.2.3", Checksums: map[string][]byte{}}
		r.StartAhead(spec)
		time.Sleep(2 * time.Second)
		began := time.Now()
		checked(t, r, spec.Inputs(property.Map{}))
		require.Zero(t, time.Since(began))
		require.EqualValues(t, 1, host.started.Load())

		checked(t, r, spec.Inputs(property.Map{})) // each provider resource has an instance of its own
		require.EqualValues(t, 2, host.started.Load())
		spec.Version = "1.2.4"
		checked(t, r, spec.Inputs(property.Map{}))
		require.EqualValues(t, 3, host.started.Load())
	})
}

func TestNobodyNeedsWhatIsStartedAhead(t *testing.T) {
	for name, patience := range map[string]time.Duration{"started": 2 * time.Second, "starting": time.Second / 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newSlowHost()
				r := newRegistry(t, host, providers.RegistryOptions{})
				r.StartAhead(providers.Spec{Package: "simple"}, providers.Spec{Package: "other"})
				time.Sleep(patience)
				require.NoError(t, r.Close())
				require.EqualValues(t, 2, host.closed.Load())
				r.StartAhead(providers.Spec{Package: "simple"})
				synctest.Wait()
				require.EqualValues(t, 2, host.started.Load(), "after the end")
			})
		})
	}
}

func TestWhoNeedsWhatDidNotStartAheadGetsTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newSlowHost()
		host.fail = errors.New("out of memory")
		r := newRegistry(t, host, providers.RegistryOptions{})
		r.StartAhead(providers.Spec{Package: "simple"}, providers.Spec{Package: "unused"})
		_, err := r.Resources().Check(t.Context(), providers.CheckRequest{URN: providerURN, Name: "main", Type: providerType})
		require.ErrorIs(t, err, host.fail)
		require.EqualValues(t, 2, host.started.Load())
	})
}

func TestAStartAheadThatEndsItsGoroutineIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t, providers.HostFunc(func(context.Context, providers.Spec) (providers.Provider, error) {
			runtime.Goexit()
			panic("not reached")
		}), providers.RegistryOptions{})
		r.StartAhead(providers.Spec{Package: "simple"})
		_, err := r.Resources().Check(t.Context(), providers.CheckRequest{URN: providerURN, Name: "main", Type: providerType})
		require.ErrorContains(t, err, "runtime.Goexit")
	})
}
