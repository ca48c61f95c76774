package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// wire passes on the messages between the engine and a plugin that runs separately, until it is cut.
type wire struct {
	listener net.Listener
	mu       sync.Mutex // guards ends
	ends     []net.Conn
	running  conc.WaitGroup
}

func newWire(t *testing.T, to int) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{listener: l}
	w.running.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", to))
			if err != nil {
				_ = near.Close()
				return
			}
			w.mu.Lock()
			w.ends = append(w.ends, near, far)
			w.mu.Unlock()
			w.running.Go(func() { _, _ = io.Copy(near, far) })
			w.running.Go(func() { _, _ = io.Copy(far, near) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		w.cut()
		w.running.Wait()
	})
	return w
}

// cut breaks all connections. New ones can be made.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.ends {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.Close()
	}
	w.ends = nil
}

// behindWire is a provider whose plugin runs separately behind a wire.
func behindWire(t *testing.T, config property.Map, output func(plugin.Line)) (providers.Provider, *wire) {
	process, err := plugin.Start(plugin.Command{Name: "simple", Executable: filepath.Join(binaries, "pulumi-resource-simple"), Output: output})
	require.NoError(t, err)
	t.Cleanup(process.Stop)
	port, err := process.Port(t.Context())
	require.NoError(t, err)
	w := newWire(t, port)
	env := map[string]string{"PATH": "", "PULUMI_DEBUG_PROVIDERS": fmt.Sprintf("simple:%d", w.listener.Addr().(*net.TCPAddr).Port)}
	return configured(t, setup{env: env, config: config}), w
}

func TestACreateWhoseConnectionBreaksIsLost(t *testing.T) {
	directory := t.TempDir()
	hang := newHanging()
	p, w := behindWire(t, object("directory", directory, "hangOn", "create web"), hang.output)
	table, err := providertest.OpenDirectory(directory)
	require.NoError(t, err)
	var calls conc.WaitGroup
	calls.Go(func() {
		_, err := create(t.Context(), p, "web", object())
		requireLost(t, err, "has not answered")
	})
	hang.wait(1)
	w.cut()
	calls.Wait()

	// The plugin lives on and answers again; its own errors are passed on.
	made, err := create(t.Context(), p, "other", object())
	require.NoError(t, err)
	_, known, err := table.Read(made.ID)
	require.NoError(t, err)
	require.True(t, known)
}

func TestACallThatIsGivenUpIsLostAndOneThatNeverBeganIsNot(t *testing.T) {
	p := configured(t, setup{config: object("hangOn", "create web")})
	enough := errors.New("enough")
	for name, end := range map[string]func(context.Context, time.Duration) (context.Context, context.CancelFunc){
		"deadline": context.WithTimeout,
		"cancellation": func(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			stop := time.AfterFunc(after, func() { cancel(enough) })
			return ctx, func() { stop.Stop(); cancel(nil) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var ctx context.Context
			var err error
			// The provider notices the end, too, and its answer may come first; and the end may come before the call. The next
			// call has more time.
			for try := range 15 {
				var cancel context.CancelFunc
				ctx, cancel = end(t.Context(), 20*time.Millisecond<<try)
				defer cancel()
				if _, err = create(ctx, p, "web", object()); errors.As(err, new(*providers.UncertainError)) {
					break
				}
			}
			requireLost(t, err, "create of "+string(web))
			require.ErrorIs(t, err, context.Cause(ctx))

			_, err = create(ctx, p, "web", object()) // it is over already
			require.ErrorIs(t, err, context.Cause(ctx))
			require.False(t, errors.As(err, new(*providers.UncertainError)))
		})
	}
}

func requireLost(t *testing.T, err error, text string) {
	t.Helper()
	var u *providers.UncertainError
	require.ErrorAs(t, err, &u)
	require.True(t, u.Lost)
	require.ErrorContains(t, err, text)
}
