package rules

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

func TestARequestThatIsNilIsAnError(t *testing.T) {
	for name, request := range map[string]func(context.Context, stages.Monitor) error{
		"Register": func(ctx context.Context, m stages.Monitor) error { _, err := m.Register(ctx, nil); return err },
		"Read":     func(ctx context.Context, m stages.Monitor) error { _, err := m.Read(ctx, nil); return err },
		"Exists":   func(ctx context.Context, m stages.Monitor) error { _, err := m.Exists(ctx, nil); return err },
		"Invoke":   func(ctx context.Context, m stages.Monitor) error { _, err := m.Invoke(ctx, nil); return err },
		"Call":     func(ctx context.Context, m stages.Monitor) error { _, err := m.Call(ctx, nil); return err },
		"RegisterStackTransform": func(ctx context.Context, m stages.Monitor) error {
			return m.RegisterStackTransform(ctx, nil)
		},
		"RegisterInvokeTransform": func(ctx context.Context, m stages.Monitor) error {
			return m.RegisterInvokeTransform(ctx, nil)
		},
	} {
		newKit(t).fails(func(ctx context.Context, m stages.Monitor) error {
			m.Omit(ctx, nil, nil)
			err := request(ctx, m)
			require.ErrorAs(t, err, new(*stages.InvalidRequestError))
			return err
		}, name+" has got nil")
	}
}

func TestAPanicOfAProgramIsOneLine(t *testing.T) {
	for name, panics := range map[string]func(){
		"of its own": func() { panic("boom\nbang") },
		"of a goroutine": func() {
			var wg conc.WaitGroup
			wg.Go(func() { panic("boom") })
			wg.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := newKit(t).fails(func(context.Context, stages.Monitor) error { panics(); return nil }, "the program: panic: boom (mistakes_test.go:")
			for _, d := range out.diagnostics(stages.Error) {
				require.NotContains(t, d.Message, "\n")
			}
			var p *pipeline.PanicError
			require.True(t, errors.As(out.err, &p))
			require.Contains(t, string(p.Stack), "goroutine", "the stack is there for who asks")
			require.Equal(t, 1, strings.Count(out.err.Error(), "boom"))
		})
	}
}
