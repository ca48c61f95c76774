package slot_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/stagestest"
)

// TestGroupsPassOneAfterTheOther has two groups at the same time, and a stage that waits. With a lock that package synctest does not know, its
// clock would stand still.
func TestGroupsPassOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inside := 0
		slow := pipeline.Stage[stages.Deleting, stages.Deleting]{
			Name: "slow",
			Run: func(ctx context.Context, d stages.Deleting, emit pipeline.Emit[stages.Deleting]) error {
				inside++
				require.Equal(t, 1, inside)
				if err := await.For(ctx, time.Second); err != nil {
					return err
				}
				inside--
				return emit(d)
			},
		}
		g := slot.NewGroup("Deleting", []pipeline.Stage[stages.Deleting, stages.Deleting]{slow}, slot.Reports{Refuse: func(err error, _ bool) error { return err }})
		began := time.Now()
		var all conc.WaitGroup
		for _, name := range []string{"a", "b"} {
			all.Go(func() {
				require.NoError(t, g.Pass(t.Context(), []stages.Deleting{stagestest.Resource{Name: name}.Deleting()}))
			})
		}
		all.Wait()
		require.Equal(t, 2*time.Second, time.Since(began))

		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(context.DeadlineExceeded)
		require.ErrorIs(t, g.Pass(ctx, nil), context.DeadlineExceeded)
	})
}

// A report that lets the pipeline go on is a mistake of the engine. Even then, no delete begins.
func TestAGroupHasPassedOnlyIfAllItsItemsHave(t *testing.T) {
	forgets := pipeline.Stage[stages.Deleting, stages.Deleting]{
		Name: "forgets",
		Run: func(_ context.Context, d stages.Deleting, emit pipeline.Emit[stages.Deleting]) error {
			if d.URN.Name() == "b" {
				return nil
			}
			return emit(d)
		},
	}
	var found []string
	g := slot.NewGroup("Deleting", []pipeline.Stage[stages.Deleting, stages.Deleting]{forgets}, slot.Reports{Refuse: func(err error, _ bool) error {
		found = append(found, err.Error())
		return nil
	}})
	err := g.Pass(t.Context(), []stages.Deleting{stagestest.Resource{Name: "a"}.Deleting(), stagestest.Resource{Name: "b"}.Deleting()})
	require.EqualError(t, err, "the stages in the slot Deleting: of a group of 2, 1 have passed, and no error says why; none of them goes on")
	require.Contains(t, found, err.Error())
}
