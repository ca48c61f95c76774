package journal

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// left is the store after a run of some records is killed. marks are the lengths of the journal after each group.
func left(t *testing.T, steps int) (m *memory, marks []int) {
	t.Helper()
	return leftBy(t, steps, 7)
}

// leftBy is left for a run generated from the seed.
func leftBy(t *testing.T, steps int, seed uint64) (m *memory, marks []int) {
	t.Helper()
	m, calls := &memory{}, new(atomic.Int64)
	base := startOf(t, m, thing("a"), thing("b"))
	o := m.options(base, calls)
	o.OnlyAtEnd, o.Checkpoint.SkipIntegrity = true, true
	r := NewRecorder(o)
	h := &history{t: t, random: rand.New(rand.NewPCG(seed, 7)), to: []state.Recorder{r}, live: slices.Clone(base.Resources)}
	for range steps {
		h.step()
		if n := len(m.journal); n > 0 && (len(marks) == 0 || marks[len(marks)-1] != n) {
			marks = append(marks, n)
		}
	}
	return m.copy(), marks
}

func recoverCopy(m *memory) (*memory, *Report, error) {
	c := m.copy()
	o := c.recovery()
	o.Checkpoint.SkipIntegrity = true
	report, err := Recover(context.Background(), o)
	return c, report, err
}

// A journal that is cut at any byte is recovered up to its last whole record: no acknowledged record is lost, and the result
// is the recovery of exactly those records.
func TestTornTailIsCutAtEveryByte(t *testing.T) {
	m, marks := left(t, 25)
	whole := m.journal
	want := map[int]string{}
	for _, mark := range marks {
		m.journal = whole[:mark]
		c, _, err := recoverCopy(m)
		require.NoError(t, err)
		want[mark] = string(c.file)
	}
	for n := range whole {
		m.journal = whole[:n]
		c, report, err := recoverCopy(m)
		require.NoError(t, err, "cut at byte %d", n)
		require.Nil(t, c.journal)
		j, err := Read(whole[:n], "x")
		require.NoError(t, err)
		require.EqualValues(t, n, int(j.size)+j.Torn)
		if !j.isBegun() {
			require.Nil(t, report)
			require.Equal(t, string(m.file), string(c.file), "not even the header was written")
			continue
		}
		if text, ok := want[int(j.size)]; ok {
			require.Equal(t, text, string(c.file), "cut at byte %d", n)
		}
	}
}

func TestJournalOfANewerVersionIsRefused(t *testing.T) {
	m, _ := left(t, 5)
	b, err := appendHeader(nil, &Header{Format: 2, Tool: "sluice/9.0.0", Stack: stackName})
	require.NoError(t, err)
	m.journal = b
	c, _, err := recoverCopy(m)
	require.EqualError(t, err, "dev.jnl was written by sluice/9.0.0 in format 2, and this version of sluice reads format 1; "+
		"use that version to recover it")
	require.Equal(t, b, c.journal)
}

func TestJournalOfAnotherStackIsRefused(t *testing.T) {
	m, _ := left(t, 5)
	o := m.recovery()
	o.Stack = "organization/shop/other"
	before := string(m.file)
	_, err := Recover(context.Background(), o)
	var stale *StaleError
	require.ErrorAs(t, err, &stale)
	require.True(t, stale.Other)
	require.ErrorContains(t, err, stackName)
	require.Equal(t, before, string(m.file))
	require.NotNil(t, m.journal)
}

func TestStaleJournalIsReportedWithWhatItContains(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	base := startOf(t, m, thing("a"))
	r := NewRecorder(m.options(base, calls))
	made, goal := thing("made"), thing("unknown")
	require.NoError(t, r.Begin(t.Context(), state.Pending{Type: state.Creating, Resource: made}))
	require.NoError(t, r.End(t.Context(), state.Change{Begun: made, Add: made}))
	require.NoError(t, r.Begin(t.Context(), state.Pending{Type: state.Deleting, Resource: base.Resources[0]}))
	require.NoError(t, r.Begin(t.Context(), state.Pending{Type: state.Creating, Resource: goal}))
	m.file = append(slices.Clone(m.file), ' ') // another process
	c, _, err := recoverCopy(m)
	var stale *StaleError
	require.ErrorAs(t, err, &stale)
	require.NoError(t, stale.Err)
	require.Equal(t, []Listed{
		{What: "created", URN: made.URN, ID: made.ID},
		{What: "deleting", Open: true, URN: base.Resources[0].URN, ID: "id-a"},
		{What: "updating", Open: true, URN: thing("changed").URN, ID: "id-changed"},
		{What: "creating", Open: true, URN: thing("forgotten").URN, ID: "id-forgotten"},
		{What: "creating", Open: true, URN: goal.URN, ID: goal.ID},
	}, stale.Report.List())
	require.Equal(t, m.journal, c.journal)
	require.Equal(t, m.file, c.file)
}

func TestJournalWhoseBaseIsLostIsNotApplied(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	r := NewRecorder(m.options(startOf(t, m, thing("a")), calls))
	require.NoError(t, r.End(t.Context(), state.Change{Add: thing("b")}))
	_, err := r.compact(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.End(t.Context(), state.Change{Add: thing("c")}))
	kept := m.base
	for what, base := range map[string][]byte{"gone": nil, "changed": []byte("{}")} {
		m.base = base
		c, _, err := recoverCopy(m)
		require.ErrorContains(t, err, what)
		require.Equal(t, m.file, c.file)
		require.NotNil(t, c.journal)
	}
	m.base = kept
	c, report, err := recoverCopy(m)
	require.NoError(t, err)
	require.True(t, report.Written)
	require.Contains(t, string(c.file), "id-c")
}

// A recovery that is killed anywhere is done again by the next command.
func TestRecoveryThatIsKilledIsDoneAgain(t *testing.T) {
	m, _ := left(t, 25)
	next, err := appendEntry(nil, &entry{Number: 1000, Group: 1000, First: 1000, Kind: kindEnd})
	require.NoError(t, err)
	m.journal = append(m.journal, next[:len(next)-2]...)
	want, _, err := recoverCopy(m)
	require.NoError(t, err)
	for _, part := range []float64{0, 0.5, 1} {
		for at := range 10 {
			c, n := m.copy(), 0
			c.crash = func(string) (float64, error) {
				if n++; n > at {
					return part, errFull
				}
				return 0, nil
			}
			o := c.recovery()
			o.Checkpoint.SkipIntegrity = true
			_, err := Recover(context.Background(), o)
			require.Equal(t, at < 3, err != nil, "append, save, remove")
			again, _, err := recoverCopy(c)
			require.NoError(t, err)
			require.Equal(t, string(want.file), string(again.file))
			require.Nil(t, again.journal)
		}
	}
}

// A run that is killed between any two writes, in a checkpoint too, loses nothing that was acknowledged.
func TestRunThatIsKilledAtAnyWriteLosesNothing(t *testing.T) {
	for at := range 60 {
		m, calls := &memory{}, new(atomic.Int64)
		base := startOf(t, m)
		n := 0
		m.crash = func(string) (float64, error) {
			if n++; n > at {
				return float64(at%3) / 2, errFull
			}
			return 0, nil
		}
		r := NewRecorder(m.options(base, calls))
		var acknowledged, begun []string
		for i := range 10 {
			res := thing(string(rune('a' + i)))
			if r.Begin(t.Context(), state.Pending{Type: state.Creating, Resource: res}) != nil {
				break
			}
			begun = append(begun, res.ID)
			if r.End(t.Context(), state.Change{Begun: res, Add: res}) != nil {
				break
			}
			acknowledged = append(acknowledged, res.ID)
			if i%3 == 0 {
				_, _ = r.compact(t.Context()) // it may fail; that is the point
			}
		}
		m.crash = nil
		c, _, err := recoverCopy(m)
		require.NoError(t, err)
		got, err := state.DecodeCheckpoint(t.Context(), c.file, state.DecodeOptions{})
		require.NoError(t, err)
		ids := map[string]bool{}
		for _, res := range got.Latest.Resources {
			ids[res.ID] = true
		}
		for _, id := range acknowledged {
			require.True(t, ids[id], "killed at write %d: %s is lost", at, id)
		}
		for _, op := range got.Latest.Pending {
			ids[op.Resource.ID] = true
		}
		for _, id := range begun {
			require.True(t, ids[id], "killed at write %d: nobody knows of %s", at, id)
		}
	}
}

func FuzzReader(f *testing.F) {
	m, marks := left(&testing.T{}, 12)
	f.Add(m.journal)
	f.Add(m.journal[:marks[1]+3])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var j *Journal
		var err error
		fuzzing.Bound(t, len(data), 200, func() { j, err = Read(data, "x") })
		if err != nil && !strings.Contains(err.Error(), "x") {
			t.Fatalf("%v does not say where", err)
		}
		if err != nil {
			return
		}
		if int(j.size)+j.Torn != len(data) {
			t.Fatalf("%d bytes are whole and %d torn, of %d", j.size, j.Torn, len(data))
		}
		again, err := Read(data[:j.size], "x")
		if err != nil || again.isBegun() != j.isBegun() || len(again.entries) != len(j.entries) || again.Torn != 0 {
			t.Fatalf("what is whole is read differently: %v", err)
		}
		c := m.copy()
		c.journal = data
		o := c.recovery()
		o.Checkpoint.SkipIntegrity = true
		file := string(c.file)
		if _, err := Recover(context.Background(), o); err != nil && string(c.file) != file {
			t.Fatal("a journal that is refused has changed the state")
		}
	})
}
