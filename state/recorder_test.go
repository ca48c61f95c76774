package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
)

// disk is a slow place to save checkpoints to.
type disk struct {
	delay time.Duration

	mu      sync.Mutex
	saves   [][]byte
	aside   [][]byte
	failing error
	busy    bool
}

func (d *disk) save(ctx context.Context, b []byte) error {
	d.mu.Lock()
	if d.busy {
		panic("two writers at once")
	}
	d.busy = true
	d.mu.Unlock()
	if d.delay > 0 {
		time.Sleep(d.delay)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = false
	if d.failing != nil {
		return d.failing
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	d.saves = append(d.saves, b)
	return nil
}

func (d *disk) recorder(base *Snapshot) *CheckpointRecorder {
	return NewCheckpointRecorder(NewLedger(base, LedgerOptions{Version: "t"}), CheckpointOptions{
		Stack: "s", Encoder: NewEncoder(EncoderOptions{}), Save: d.save,
		SetAside: func(_ context.Context, b []byte) (string, error) {
			d.aside = append(d.aside, b)
			return "the attic", nil
		},
	})
}

func (d *disk) last(t *testing.T) *Snapshot {
	t.Helper()
	require.NotEmpty(t, d.saves)
	c, err := DecodeCheckpoint(context.Background(), d.saves[len(d.saves)-1], DecodeOptions{})
	require.NoError(t, err)
	return c.Latest
}

func TestRecordsThatWaitShareOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{delay: time.Second}
		r := d.recorder(nil)
		start := time.Now()
		var wg conc.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				name := fmt.Sprintf("r%02d", i)
				if err := r.End(context.Background(), Change{Add: box(name)}); err != nil {
					panic(err)
				}
				d.mu.Lock()
				defer d.mu.Unlock()
				last := d.saves[len(d.saves)-1]
				if !bytes.Contains(last, []byte(boxURN(name))) {
					panic("returned before a write that contains the record")
				}
			})
		}
		wg.Wait()
		require.LessOrEqual(t, len(d.saves), 3, "one write for the first, one or two for all that came meanwhile")
		require.LessOrEqual(t, time.Since(start), 3*time.Second)
		require.Len(t, d.last(t).Resources, 50)
		require.NoError(t, r.Close(context.Background()))
		require.LessOrEqual(t, len(d.saves), 3, "nothing was left to write")
	})
}

func TestFailedWriteFailsEveryWaiterAndEverythingAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		d := &disk{delay: time.Second, failing: full}
		r := d.recorder(nil)
		var wg conc.WaitGroup
		errs := make([]error, 10)
		for i := range errs {
			wg.Go(func() { errs[i] = r.End(context.Background(), Change{Add: box(fmt.Sprint(i))}) })
		}
		wg.Wait()
		for _, err := range errs {
			require.ErrorIs(t, err, full)
		}
		d.failing = nil
		require.ErrorIs(t, r.Begin(context.Background(), Pending{Type: Creating, Resource: box("x")}), full)
		require.ErrorIs(t, r.End(context.Background(), Change{Add: box("y"), Elide: true}), full)
		require.Empty(t, d.saves)

		// Everything but x has happened, and the end of the run saves it.
		require.NoError(t, r.Close(context.Background()))
		require.NoError(t, r.Close(context.Background()))
		require.Len(t, d.saves, 1)
		require.Len(t, d.last(t).Resources, len(errs)+1)
		require.Empty(t, d.last(t).Pending)
	})
}

func TestABeginThatCannotBeWrittenIsNotPending(t *testing.T) {
	full := errors.New("disk full")
	d := &disk{failing: full}
	r := d.recorder(nil)
	require.ErrorIs(t, r.Begin(context.Background(), Pending{Type: Creating, Resource: box("x")}), full)
	d.failing = nil
	require.NoError(t, r.Close(context.Background()))
	require.Empty(t, d.last(t).Pending)
}

func TestACloseThatCannotWriteFails(t *testing.T) {
	full := errors.New("disk full")
	d := &disk{failing: full}
	r := d.recorder(nil)
	require.ErrorIs(t, r.End(context.Background(), Change{Add: box("x")}), full)
	require.ErrorIs(t, r.Close(context.Background()), full)
	d.failing = nil
	require.ErrorIs(t, r.Close(context.Background()), full, "it is not tried again")
	require.Empty(t, d.saves)
}

func TestElidedChangesGoWithTheNextWriteOrTheClose(t *testing.T) {
	ctx := context.Background()
	d := &disk{}
	r := d.recorder(snapshotOf(box("a")))
	require.NoError(t, r.End(ctx, Change{Add: box("b"), Elide: true}))
	require.Empty(t, d.saves)
	op := box("c")
	require.NoError(t, r.Begin(ctx, Pending{Type: Creating, Resource: op}))
	require.Len(t, d.last(t).Resources, 2)
	require.Len(t, d.last(t).Pending, 1)
	require.NoError(t, r.End(ctx, Change{Begun: op, Add: op}))
	require.Len(t, d.saves, 2)
	require.NoError(t, r.End(ctx, Change{Add: box("d"), Elide: true}))
	require.NoError(t, r.Close(ctx))
	require.Len(t, d.saves, 3)
	require.Len(t, d.last(t).Resources, 4)
	require.NoError(t, r.Close(ctx))
	require.Len(t, d.saves, 3)
	require.ErrorIs(t, r.Begin(ctx, Pending{Type: Creating, Resource: op}), ErrClosed)
}

func TestRunThatChangesNothingWritesOnce(t *testing.T) {
	d := &disk{}
	require.NoError(t, d.recorder(snapshotOf(box("a"))).Close(context.Background()))
	require.Len(t, d.saves, 1)
}

func TestWhatHappenedIsRecordedAfterCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d := &disk{}
	require.NoError(t, d.recorder(nil).End(ctx, Change{Add: box("a")}))
	require.Len(t, d.last(t).Resources, 1)
}

func TestRebaseIsDurableWhenItReturns(t *testing.T) {
	d := &disk{}
	require.NoError(t, d.recorder(snapshotOf(box("a"))).Rebase(context.Background(), snapshotOf(box("b"))))
	require.Equal(t, []string{"b"}, namesOf(d.last(t).Resources))
}

func TestInvalidSnapshotNeverReplacesTheCheckpoint(t *testing.T) {
	ctx := context.Background()
	t.Run("one that can be repaired is written repaired", func(t *testing.T) {
		d := &disk{}
		r := d.recorder(nil)
		err := r.End(ctx, Change{Add: box("a", dependsOn("nobody"))})
		var broken *IntegrityError
		require.ErrorAs(t, err, &broken)
		require.Equal(t, RuleDependencies, broken.Rule)
		require.ErrorContains(t, err, "the attic")
		require.Len(t, d.aside, 1)
		require.NoError(t, Verify(d.last(t)))
		require.ErrorAs(t, r.Close(ctx), &broken)
	})
	t.Run("one that cannot is only set aside", func(t *testing.T) {
		d := &disk{}
		r := d.recorder(snapshotOf(box("a")))
		var broken *IntegrityError
		require.ErrorAs(t, r.End(ctx, Change{Add: box("a")}), &broken)
		require.Equal(t, RuleDuplicate, broken.Rule)
		require.Len(t, d.aside, 1)
		require.Empty(t, d.saves)
	})
}

func TestRefusedChangeDoesNotEndTheRecording(t *testing.T) {
	d := &disk{}
	r := d.recorder(nil)
	require.ErrorIs(t, r.End(context.Background(), Change{Remove: []*Resource{box("a")}}), ErrNotRecorded)
	require.NoError(t, r.End(context.Background(), Change{Add: box("a")}))
}

func TestMemoryRecorderRefusesWhatNoFileCanHold(t *testing.T) {
	ctx := context.Background()
	bad := property.NewMap(map[string]property.Value{"k\xff": property.Null})
	for name, spoil := range map[string]func(*Resource){
		"inputs":  func(r *Resource) { r.Inputs = bad },
		"outputs": func(r *Resource) { r.Outputs = bad },
	} {
		t.Run(name, func(t *testing.T) {
			r := NewMemoryRecorder(NewLedger(snapshotOf(box("a")), LedgerOptions{}), nil)
			b := box("b")
			spoil(b)
			require.ErrorContains(t, r.Begin(ctx, Pending{Type: Creating, Resource: b}), "encode resource "+string(b.URN))
			require.ErrorContains(t, r.End(ctx, Change{Add: b}), "encode resource "+string(b.URN))
			require.ErrorContains(t, r.End(ctx, Change{Replace: []Replacement{{Old: box("a"), New: b}}}), "encode resource "+string(b.URN))
			require.NoError(t, r.Close(ctx))
		})
	}
}

func TestMemoryRecorderHandsTheSnapshotOn(t *testing.T) {
	ctx := context.Background()
	var got *Snapshot
	r := NewMemoryRecorder(NewLedger(nil, LedgerOptions{}), func(s *Snapshot) { got = s })
	require.NoError(t, r.Rebase(ctx, snapshotOf(box("a"))))
	op := box("b")
	require.NoError(t, r.Begin(ctx, Pending{Type: Creating, Resource: op}))
	require.NoError(t, r.End(ctx, Change{Begun: op, Add: op}))
	now, err := r.Snapshot()
	require.NoError(t, err)
	require.NoError(t, r.Close(ctx))
	require.Equal(t, []string{"a", "b"}, namesOf(got.Resources))
	require.Equal(t, now.Resources, got.Resources)
}
