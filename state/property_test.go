package state

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice/urn"
)

// world draws a valid base and the steps of a run, as an engine would: each registration refers only to earlier
// registrations. The effect of a step is one Change; after are the steps whose effects must come first.
type world struct {
	base  *Snapshot
	steps []worldStep
}

type worldStep struct {
	change Change
	begins *Pending
	after  []int
}

func drawWorld(t *rapid.T) world {
	n := rapid.IntRange(0, 8).Draw(t, "base size")
	w := world{base: snapshotOf()}
	for i := range n {
		r := box(fmt.Sprintf("r%d", i))
		r.Dependencies = drawSubset(t, "base dependencies", i, func(j int) urn.URN { return boxURN(fmt.Sprintf("r%d", j)) })
		w.base.Resources = append(w.base.Resources, r)
		if rapid.IntRange(0, 5).Draw(t, "old copy") == 0 {
			w.base.Resources = append(w.base.Resources, box(fmt.Sprintf("r%d", i), old, func(c *Resource) {
				c.ID, c.Dependencies = "older", r.Dependencies
			}))
		}
	}
	// A run registers some resources, old and new ones, in any order.
	names := rapid.Permutation([]string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "s0", "s1", "s2"}).Draw(t, "program")
	names = names[:rapid.IntRange(0, len(names)).Draw(t, "program size")]
	for i, name := range names {
		var after []int
		r := box(name, func(r *Resource) { r.ID = "new" })
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "depends") == 0 {
				r.Dependencies = append(r.Dependencies, boxURN(names[j]))
				after = append(after, j)
			}
		}
		at := slices.IndexFunc(w.base.Resources, func(b *Resource) bool { return b.URN == r.URN && !b.Delete })
		c := Change{Add: r, Elide: rapid.Bool().Draw(t, "elide")}
		switch {
		case at < 0:
			c.Begun = r
		case rapid.IntRange(0, 3).Draw(t, "replace") == 0:
			gone := w.base.Resources[at].Clone()
			gone.Delete = true
			c.Begun, c.Replace = r, []Replacement{{w.base.Resources[at], gone}}
		default:
			c.Remove = []*Resource{w.base.Resources[at]}
		}
		s := worldStep{change: c, after: after}
		if c.Begun != nil {
			s.begins = &Pending{Type: Creating, Resource: r}
		}
		w.steps = append(w.steps, s)
	}
	return w
}

func drawSubset(t *rapid.T, label string, n int, of func(int) urn.URN) []urn.URN {
	var us []urn.URN
	for j := range n {
		if rapid.IntRange(0, 3).Draw(t, label) == 0 {
			us = append(us, of(j))
		}
	}
	return us
}

// schedule is an order of the steps in which each comes after the steps in its after.
func (w world) schedule(t *rapid.T, label string) []int {
	var order []int
	done := map[int]bool{}
	for len(order) < len(w.steps) {
		var ready []int
		for i, s := range w.steps {
			if !done[i] && !slices.ContainsFunc(s.after, func(j int) bool { return !done[j] }) {
				ready = append(ready, i)
			}
		}
		next := rapid.SampledFrom(ready).Draw(t, label)
		done[next] = true
		order = append(order, next)
	}
	return order
}

func TestSnapshotsAreValidAndDoNotDependOnTiming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		var texts []string
		for _, label := range []string{"first schedule", "second schedule"} {
			l := NewLedger(w.base, LedgerOptions{Version: "t", Now: func() time.Time { return time.Unix(0, 0) }})
			naive := slices.Clone(w.base.Resources)
			var news []*Resource
			for _, i := range w.schedule(t, label) {
				s := w.steps[i]
				if s.begins != nil {
					require.NoError(t, l.Begin(*s.begins))
				}
				require.NoError(t, l.End(s.change))
				news = append(news, s.change.Add)
				for _, r := range s.change.Remove {
					naive = slices.DeleteFunc(naive, func(b *Resource) bool { return b == r })
				}
				for _, p := range s.change.Replace {
					naive[slices.Index(naive, p.Old)] = p.New
				}
				snapshot, err := l.Snapshot()
				require.NoError(t, err)
				require.NoError(t, Verify(snapshot), "%v", namesOf(snapshot.Resources))
				model := slices.Concat(news, naive) // the order of state.md 3.4
				require.NoError(t, Verify(snapshotOf(model...)), "the model is wrong")
				require.ElementsMatch(t, model, snapshot.Resources)
				require.Empty(t, snapshot.Pending)
			}
			snapshot, err := l.Snapshot()
			require.NoError(t, err)
			text, err := NewEncoder(EncoderOptions{}).Checkpoint(context.Background(), "s", snapshot)
			require.NoError(t, err)
			texts = append(texts, string(text))

			fixed := NewLedger(snapshot, LedgerOptions{Version: "t", Now: func() time.Time { return time.Unix(0, 0) }})
			again, err := fixed.Snapshot()
			require.NoError(t, err)
			require.Equal(t, namesOf(snapshot.Resources), namesOf(again.Resources), "the canonical order is stable")
		}
		require.Equal(t, texts[0], texts[1])
	})
}

func TestRepairedSnapshotsVerify(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "n")
		s := snapshotOf()
		for i := range n {
			r := box(fmt.Sprintf("r%d", i))
			r.Dependencies = drawSubset(t, "dependencies", 10, func(j int) urn.URN { return boxURN(fmt.Sprintf("r%d", j)) })
			if rapid.Bool().Draw(t, "parent") {
				r.Parent = boxURN(fmt.Sprintf("r%d", rapid.IntRange(0, 9).Draw(t, "parent index")))
			}
			s.Resources = append(s.Resources, r)
		}
		out, err := Repair(s)
		if err != nil {
			require.Nil(t, out)
			return
		}
		require.NoError(t, Verify(out))
		require.Len(t, out.Resources, n)
	})
}
