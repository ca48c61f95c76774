package rules

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

// Each registration waits, in a transform, for the reply to the next one: all of them are admitted before the first reply. There are more than any
// buffer of the pipeline holds, and as many others that wait for room (decision 0127).
func TestRegistrationsMayWaitForOneAnotherInChainsOfAnyLength(t *testing.T) {
	const n = 9000
	k := newKit(t)
	r := k.preview(func(ctx context.Context, m stages.Monitor) error {
		var chain func(i int) error
		chain = func(i int) error {
			_, err := m.Register(ctx, registration("test:index:Thing", fmt.Sprint("chain", i), nil, func(r *stages.RegisterRequest) {
				if i+1 < n {
					r.Transforms = []stages.Transform{func(_ context.Context, in stages.TransformInput) (stages.TransformInput, error) {
						return in, chain(i + 1)
					}}
				}
			}))
			return err
		}
		return together(n+1, func(i int) error {
			if i == n/2 { // between the others
				return chain(0)
			}
			_, err := m.Register(ctx, registration("test:index:Thing", fmt.Sprint("other", i), nil))
			return err
		})
	})
	require.Equal(t, 2*n, r.Changes[stages.OpCreate])
}
