package tree

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

var start = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

func name(n string) urn.URN {
	return urn.URN("urn:pulumi:dev::shop::t:m:" + strings.ToUpper(n[:1]) + "::" + n)
}

// step returns a step of a resource. One whose name begins with c is a component.
func step(op stages.Op, n, parent string) stages.StepInfo {
	r := &state.Resource{Custom: n[0] != 'c'}
	if parent != "" {
		r.Parent = name(parent)
	}
	s := stages.StepInfo{Op: op, URN: name(n), New: r}
	if stages.Removes(op) {
		s.Old, s.New = r, nil
	}
	return s
}

func began(op stages.Op, n, parent string) stages.Event {
	return stages.StepStarted{Step: step(op, n, parent), At: start}
}

func done(op stages.Op, n, parent string) stages.Event {
	return stages.StepDone{Step: step(op, n, parent), At: start.Add(2 * time.Second)}
}

// leftOver is the delete of an object whose replacement is recorded.
func leftOver(n string) stages.Event {
	s := step(stages.OpDeleteReplaced, n, "")
	s.Old.Delete = true
	return stages.StepDone{Step: s, At: start.Add(2 * time.Second)}
}

func failed(op stages.Op, n, parent string) stages.Event {
	return stages.StepFailed{Step: step(op, n, parent), Err: errors.New("no quota"), At: start.Add(time.Second)}
}

// unchanged is the end of a refresh without drift.
func unchanged(n string) stages.Event {
	s := step(stages.OpRefresh, n, "")
	s.Reason.Kind = stages.ReasonUnchanged
	return stages.StepDone{Step: s, At: start.Add(2 * time.Second)}
}

// text draws a tree: a line for each node.
func text(n *Node) string {
	var b strings.Builder
	var draw func(*Node, int)
	draw = func(n *Node, depth int) {
		for c := range n.Children() {
			fmt.Fprintf(&b, "%s%s %s %d", strings.Repeat("  ", depth), c.URN.Name(), c.Step.Op, c.Status)
			if c.Took > 0 {
				fmt.Fprintf(&b, " %s", c.Took)
			}
			if c.Err != nil {
				fmt.Fprintf(&b, " %s", c.Err)
			}
			if c.Note != "" {
				fmt.Fprintf(&b, " %s", c.Note)
			}
			b.WriteString("\n")
			draw(c, depth+1)
		}
	}
	draw(n, 0)
	return b.String()
}

func TestOneNodeShowsAllStepsOfAResource(t *testing.T) {
	for about, c := range map[string]struct {
		events []stages.Event
		want   string
	}{
		"a component is above its children": {
			[]stages.Event{began(stages.OpCreate, "c", ""), done(stages.OpCreate, "c", ""), began(stages.OpCreate, "a", "c"), done(stages.OpCreate, "a", "c")},
			"c create 2\n  a create 2 2s\n",
		},
		"children of a delete come before their parent": {
			[]stages.Event{done(stages.OpDelete, "a", "d"), done(stages.OpDelete, "d", "c"), done(stages.OpDelete, "c", "")},
			"c delete 2\n  d delete 2\n    a delete 2\n",
		},
		"the steps of a replacement": {
			[]stages.Event{began(stages.OpCreateReplacement, "a", ""), done(stages.OpCreateReplacement, "a", ""), done(stages.OpReplace, "a", ""),
				began(stages.OpDeleteReplaced, "a", ""), done(stages.OpDeleteReplaced, "a", "")},
			"a replace 2 4s\n",
		},
		"an old copy goes": {
			[]stages.Event{done(stages.OpUpdate, "a", ""), done(stages.OpDelete, "a", "")}, "a update 2\n",
		},
		"what an earlier replacement has left": {
			[]stages.Event{done(stages.OpSame, "a", ""), leftOver("a")}, "a delete-replaced 2\n",
		},
		"an update, and what an earlier replacement has left": {
			[]stages.Event{done(stages.OpUpdate, "a", ""), leftOver("a")}, "a update 2\n",
		},
		"what an earlier replacement has left, and another one": {
			[]stages.Event{leftOver("a"), done(stages.OpCreateReplacement, "a", ""), leftOver("a")}, "a replace 2\n",
		},
		"a replacement that is stopped after its delete": {
			[]stages.Event{done(stages.OpDeleteReplaced, "a", ""), stages.Summary{Result: stages.Failed}}, "a delete 2\n",
		},
		"a replacement that fails after its delete": {
			[]stages.Event{done(stages.OpDeleteReplaced, "a", ""), done(stages.OpReplace, "a", ""), failed(stages.OpCreateReplacement, "a", ""), stages.Summary{Result: stages.Failed}},
			"a replace 3 no quota\n",
		},
		"a replacement that deletes first, to the end": {
			[]stages.Event{done(stages.OpDeleteReplaced, "a", ""), done(stages.OpReplace, "a", ""), done(stages.OpCreateReplacement, "a", ""), stages.Summary{Result: stages.Succeeded}},
			"a replace 2\n",
		},
		"a preview of a replacement has no end": {
			[]stages.Event{done(stages.OpDeleteReplaced, "a", ""), stages.Summary{IsPreview: true}}, "a replace 2\n",
		},
		"a replacement that deletes first": {
			[]stages.Event{done(stages.OpDeleteReplaced, "a", ""), done(stages.OpReplace, "a", "")}, "a replace 2\n",
		},
		"unchanged, and then deleted": {
			[]stages.Event{done(stages.OpSame, "a", ""), done(stages.OpDelete, "a", "")}, "a delete 2\n",
		},
		"a refresh that finds nothing": {
			[]stages.Event{began(stages.OpRefresh, "a", ""), unchanged("a")}, "a same 2 2s\n",
		},
		"a refresh that finds nothing, and an update": {
			[]stages.Event{began(stages.OpRefresh, "a", ""), unchanged("a"), done(stages.OpUpdate, "a", "")}, "a update 2 2s\n",
		},
		"a failure stays": {
			[]stages.Event{began(stages.OpCreate, "a", ""), failed(stages.OpCreate, "a", ""), done(stages.OpSame, "a", "")}, "a create 3 1s no quota\n",
		},
		"a resource that was not checked": {
			[]stages.Event{stages.Diagnostic{LogMessage: stages.LogMessage{URN: name("a"), Severity: stages.Error, Message: "size is missing"}}},
			"a  3 size is missing\n",
		},
		"providers are not shown": {
			[]stages.Event{stages.StepDone{Step: stages.StepInfo{URN: name("p"), Op: stages.OpCreate, Internal: true}}}, "",
		},
	} {
		t.Run(about, func(t *testing.T) {
			tree := New(0)
			for _, e := range c.events {
				tree.Observe(e)
			}
			require.Equal(t, c.want, text(tree.Top))
		})
	}
}

func TestANodeKeepsTheBeginningOfALongMessage(t *testing.T) {
	tree := New(0)
	tree.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{URN: name("a"), Severity: stages.Error, Message: strings.Repeat("é", 1<<20)}})
	note := tree.Node(name("a")).Note
	require.Equal(t, strings.Repeat("é", len(note)/2), note)
	require.LessOrEqual(t, len(note), maxNote)
}

// count recomputes the counts of a subtree.
func count(n *Node) Counts {
	c := Counts{}
	running, failed, op := n.share()
	c.Running, c.Failed = running, failed
	c.addDone(op, 1)
	for child := range n.Children() {
		c.add(count(child), 1)
	}
	return c
}

func TestChildrenAreKeptInOrder(t *testing.T) {
	compare := func(a, b *Node) int { return strings.Compare(string(a.URN), string(b.URN)) }
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		tree := New(0)
		compared := 0
		counting := func(a, b *Node) int { compared++; return compare(a, b) }
		for i := range 60 {
			n, parent := fmt.Sprintf("r%d", r.IntN(40)), []string{"", "ca", "cb"}[r.IntN(3)]
			tree.Observe([]func(stages.Op, string, string) stages.Event{began, done, failed}[r.IntN(3)](stages.OpCreate, n, parent))
			if i%7 != 0 {
				continue
			}
			for _, p := range []*Node{tree.Top, tree.Node(name("ca")), tree.Node(name("cb"))} {
				if p == nil {
					continue
				}
				want := slices.SortedFunc(p.Children(), compare)
				require.Equal(t, want, slices.Collect(p.InOrder(counting)))
				compared = 0
				p.InOrder(counting)
				require.Zero(t, compared, "nothing is new")
			}
		}
	}
}

func TestCountsAreThoseOfEverythingBelow(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		tree := New(0)
		ops := []stages.Op{stages.OpSame, stages.OpCreate, stages.OpUpdate, stages.OpDelete, stages.OpReplace, stages.OpCreateReplacement}
		for range 80 {
			// The name contains the path: "ccb" is in "cc", which is in "c".
			n := strings.Repeat("c", 1+r.IntN(4)) + string("abd"[r.IntN(3)])
			if r.IntN(3) == 0 {
				n = strings.Repeat("c", 1+r.IntN(4))
			}
			op := ops[r.IntN(len(ops))]
			tree.Observe([]func(stages.Op, string, string) stages.Event{began, done, failed}[r.IntN(3)](op, n, n[:len(n)-1]))
			check(t, tree.Top)
		}
		for u, n := range tree.nodes {
			if n.known && u.Name() != "c" {
				require.Equal(t, u.Name()[:len(u.Name())-1], n.Parent.URN.Name(), "seed %d: %s", seed, u)
			}
		}
	}
}

func check(t *testing.T, n *Node) {
	t.Helper()
	want := count(n)
	require.Equal(t, [2]int{want.Running, want.Failed}, [2]int{n.Below.Running, n.Below.Failed})
	require.True(t, slices.Equal(want.Done, n.Below.Done), "%v, not %v", n.Below.Done, want.Done)
	running, failed := map[*Node]bool{}, map[*Node]bool{}
	for c := range n.Children() {
		if c.Below.Running > 0 {
			running[c] = true
		}
		if c.Below.Failed > 0 {
			failed[c] = true
		}
		check(t, c)
	}
	for c := range n.Running() {
		require.True(t, running[c])
		delete(running, c)
	}
	require.Empty(t, running)
	require.Len(t, n.Failed(), len(failed))
}

func TestAComponentIsDoneWhenAllThatIsInItIs(t *testing.T) {
	tree := New(0)
	closes := func(n string) stages.Event { return stages.StepDone{Step: step(stages.OpSame, n, ""), Outputs: true} }
	for _, x := range []struct {
		e     stages.Event
		opens bool
	}{
		{began(stages.OpCreate, "c", ""), true},
		{began(stages.OpCreate, "a", "c"), true},
		{done(stages.OpCreate, "a", "c"), true}, // others may follow
		{began(stages.OpCreate, "b", "c"), true},
		{closes("c"), true}, // b runs
		{done(stages.OpCreate, "b", "c"), false},
		{began(stages.OpDeleteReplaced, "a", "c"), true},
		{done(stages.OpDeleteReplaced, "a", "c"), false},
	} {
		tree.Observe(x.e)
		require.Equal(t, x.opens, tree.Node(name("c")).IsOpen(), "%#v", x.e)
	}
	tree.Observe(began(stages.OpDelete, "cc", ""))
	require.False(t, tree.Node(name("cc")).IsOpen(), "what was in it is gone")
	tree.Observe(began(stages.OpSame, "ccc", ""))
	require.False(t, tree.Node(name("ccc")).IsOpen(), "nothing is done with it")
}
