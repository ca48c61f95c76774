package plugin

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
)

func TestAnotherCallerStartsThePluginIfTheFirstOneHasLeft(t *testing.T) {
	for name, c := range map[string]struct {
		first  error // of the first start
		starts int
	}{
		"the first caller has left":    {context.Canceled, 2},
		"the plugin cannot be started": {errors.New("no such file"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s starts
				spec, came, started := providers.Spec{Package: "a"}, make(chan struct{}), 0
				load := func() (*client, error) {
					started++
					if started == 1 {
						<-came
						return nil, c.first
					}
					return &client{remote: &remote{}}, nil
				}
				var all conc.WaitGroup
				for range 3 {
					all.Go(func() {
						if got, err := s.borrow(t.Context(), spec, load); err != nil {
							assert.Equal(t, c.first, err)
						} else {
							assert.NotNil(t, got)
						}
					})
				}
				synctest.Wait()
				close(came)
				all.Wait()
				assert.Equal(t, c.starts, started)
			})
		})
	}
}

// running is a plugin that does not end.
type running struct{ Server }

func (running) Title() string                      { return "slow" }
func (running) LastOutput() string                 { return "" }
func (running) ExitedWithin(p time.Duration) error { time.Sleep(p); return nil }

// A start that is given up does not wait for the end of the plugin, which has not caused it.
func TestAStartThatIsGivenUpWaitsForNothing(t *testing.T) {
	for name, c := range map[string]struct {
		givenUp bool
		waits   time.Duration
	}{"given up": {true, 0}, "failed": {false, exitPatience}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.givenUp {
					cancel()
				}
				began := time.Now()
				require.ErrorContains(t, failedStart(ctx, "slow", running{}, errors.New("broken")), "plugin slow: broken")
				require.Equal(t, c.waits, time.Since(began))
			})
		})
	}
}
