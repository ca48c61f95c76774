package await_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
)

func TestForEndsAfterTheTimeOrWithTheContext(t *testing.T) {
	over := errors.New("over")
	for name, c := range map[string]struct {
		wait, life, took time.Duration
		err              error
	}{
		"the time":    {wait: time.Second, life: time.Minute, took: time.Second},
		"the context": {wait: time.Minute, life: time.Second, took: time.Second, err: over},
		"no time":     {wait: 0, life: time.Second, took: 0},
		"less":        {wait: -time.Second, life: time.Second, took: 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeoutCause(t.Context(), c.life, over)
				defer cancel()
				began := time.Now()
				require.Equal(t, c.err, await.For(ctx, c.wait))
				require.Equal(t, c.took, time.Since(began))
			})
		})
	}
}
