package service

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/testing/servicetest"
)

// An operation is never further ahead of a slow service than the bound on unsent entries, and the service has everything at the end, in few
// calls.
func TestAnOperationWaitsForASlowService(t *testing.T) {
	server, b := open(t, servicetest.Options{Journal: true, Batch: true, Delay: 50 * time.Millisecond}, func(o *Options) { o.Patience = time.Minute })
	s := made(t, b)
	ctx := t.Context()
	l, err := s.Lock(ctx, backend.LockOptions{Operation: "update"})
	require.NoError(t, err)
	_, err = s.Begin(ctx, backend.Operation{Kind: "update"})
	require.NoError(t, err)
	base, err := s.Load(ctx)
	require.NoError(t, err)
	r, err := s.Record(ctx, base)
	require.NoError(t, err)
	j := r.(*feed).journal
	const workers, each = 8, 100
	var all conc.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range each {
				add := safe(fmt.Sprintf("r%d-%d", w, i), 0)
				assert.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: add}))
				assert.NoError(t, r.End(ctx, state.Change{Begun: add, Add: add}))
				j.mu.Lock()
				onWay := j.onWay
				j.mu.Unlock()
				assert.LessOrEqual(t, onWay, entriesToWait+2*workers)
			}
		})
	}
	all.Wait()
	require.NoError(t, r.Close(ctx))
	require.NoError(t, l.Close())
	got, err := s.Load(ctx)
	require.NoError(t, err)
	require.Len(t, got.Resources, workers*each)
	calls := 0
	for _, c := range server.Calls() {
		if strings.HasSuffix(c.Path, "journalentries") {
			calls++
		}
	}
	require.Less(t, calls, 2*workers*each/20)
}
