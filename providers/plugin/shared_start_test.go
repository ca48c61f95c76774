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
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

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

// A provider whose caller leaves while it waits for the start that a request of the schema has begun does not own the plugin.
func TestAPluginWhoseTakerHasLeftIsEnded(t *testing.T) {
	const closed, ended = "closed", "ended for the next operation"
	for name, order := range map[string][]string{
		"the host is closed after the start":                   {"leave", "started", closed},
		"the host is closed before the start":                  {"leave", closed, "started"},
		"the host is closed before the taker leaves":           {closed, "leave", "started"},
		"the operation ends":                                   {"leave", "started", ended},
		"another provider takes it, and closes it":             {"leave", "started", "taken", closed},
		"the host is closed, then it starts as the taker goes": {closed, "started and leave"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s starts
				spec, came := providers.Spec{Package: "a"}, make(chan struct{})
				conn, err := grpc.NewClient("passthrough:///a", grpc.WithTransportCredentials(insecure.NewCredentials()))
				require.NoError(t, err)
				made := &client{remote: &remote{conn: conn}}
				defer func() { require.NoError(t, made.Close()) }()
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				var all conc.WaitGroup
				all.Go(func() {
					_, _ = s.borrow(t.Context(), spec, func() (*client, error) { <-came; return made, nil })
				})
				synctest.Wait()
				taken := false
				all.Go(func() {
					_, err := s.take(ctx, spec, func() (*client, error) { return nil, ctx.Err() })
					taken = err == nil
				})
				synctest.Wait()
				for _, event := range order {
					switch event {
					case "leave":
						leave()
					case "started":
						close(came)
					case "started and leave":
						close(came)
						leave()
					case "taken":
						got, err := s.take(t.Context(), spec, func() (*client, error) { return nil, errors.New("started again") })
						require.NoError(t, err)
						require.Equal(t, made, got)
						require.NoError(t, got.Close())
					case closed, ended:
						require.NoError(t, s.endUnused(event == closed))
					}
					synctest.Wait()
				}
				all.Wait()
				require.True(t, taken || made.isOver(), "nobody owns the plugin, and it still runs")
			})
		})
	}
}

// running is a plugin that does not end.
type running struct{ Server }

func (running) Title() string                       { return "slow" }
func (running) LastOutput() string                  { return "" }
func (running) AwaitExit(ctx context.Context) error { <-ctx.Done(); return nil }

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
