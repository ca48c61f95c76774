package backend

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/testing/tier"
)

var (
	dev  = Ref{Project: "shop", Name: "dev"}
	prod = Ref{Project: "other", Name: "prod"}
)

// twofold is an operation on two stacks.
type twofold struct {
	from, to Ref
	renames  bool
	do       func(*place, *File) error
	// prepare makes stacks beside dev, which has the resources a and b.
	prepare func(*place, *File)
}

func twofolds() map[string]twofold {
	return map[string]twofold{
		"rename": {from: dev, to: prod, renames: true, prepare: func(*place, *File) {}, do: func(_ *place, b *File) error {
			_, err := b.Rename(context.Background(), dev, prod)
			return err
		}},
		"move": {from: dev, to: prod, do: (*place).move, prepare: func(p *place, b *File) {
			s, err := b.Init(context.Background(), prod, secrets.Plain{})
			require.NoError(p, err)
			mustEdit(p, s, snapshotOf(thingOf("prod", "other", "c")))
		}},
	}
}

func thingOf(stack, project, name string) *state.Resource {
	r := thing(name)
	r.URN = r.URN.WithStack(stack).WithProject(project)
	return r
}

// scene is an operation in a kind of place, repeated from the same beginning.
type scene struct {
	twofold
	fresh     func(*testing.T) *place
	keys      secrets.Source
	beginning map[string]string // all contents
	start     map[string]string // the states in them
	done      map[string]string // the states after the operation
	moments   int               // of the operation
	intent    int               // after so many moments there is something to complete
	first     int               // after so many moments, or some fewer, the first file is written
	slow      bool
}

// stride is the number of moments from one kill to the next.
func (c *scene) stride(t *testing.T) int {
	if c.slow && !tier.More(t, "each moment") {
		return 7
	}
	return 1
}

func newScene(t *testing.T, o twofold, fresh func(*testing.T) *place) *scene {
	t.Helper()
	ctx := context.Background()
	p := fresh(t)
	b, _ := p.process(-1)
	m, _, err := secrets.NewManager(ctx, "passphrase", p.keys)
	require.NoError(t, err)
	s, err := b.Init(ctx, dev, m)
	require.NoError(t, err)
	a := thing("a")
	a.Inputs = property.NewMap(map[string]property.Value{"pw": property.Secret(property.String("sw0rdfish"))})
	mustEdit(t, s, snapshotOf(a, thing("b")))
	require.NoError(t, s.WriteHistory(ctx, Update{Kind: "update"}))
	require.NoError(t, s.WriteHistory(ctx, Update{Kind: "refresh"}))
	require.NoError(t, s.EditTags(ctx, func(tags map[string]string) { tags["k"] = "v" }))
	o.prepare(p, b)
	c := &scene{twofold: o, fresh: fresh, keys: p.keys, beginning: p.files(".pulumi/"), start: p.states(), slow: p.slow}
	b, l := p.process(-1)
	require.NoError(t, o.do(p, b))
	require.Empty(t, p.notes)
	c.done, c.moments, c.intent = p.states(), l.seen, l.intent
	require.NotEqual(t, c.start, c.done)
	p.settled(c.done)
	c.first = c.intent
	return c
}

// begin makes a place with the stacks before the operation.
func (c *scene) begin(t *testing.T) *place {
	t.Helper()
	p := c.fresh(t)
	p.keys = c.keys
	for key, content := range c.beginning {
		p.put(".pulumi/"+key, content)
	}
	return p
}

// move moves a from dev to prod.
func (p *place) move(b *File) error {
	ctx := context.Background()
	source, err := b.Open(ctx, dev)
	if err != nil {
		return err
	}
	dest, err := b.Open(ctx, prod)
	if err != nil {
		return err
	}
	for _, s := range []Stack{source, dest} {
		l, err := s.Lock(ctx, LockOptions{})
		if err != nil {
			return err
		}
		defer func() { _ = l.Close() }() // a dead process keeps it
	}
	from, err := source.Load(ctx)
	if err != nil {
		return err
	}
	to, err := dest.Load(ctx)
	if err != nil {
		return err
	}
	a, err := state.FindOne(from, "a")
	if err != nil {
		return err
	}
	m, err := state.Move(ctx, from, to, []*state.Resource{a}, state.MoveOptions{Stack: prod.Name, Project: prod.Project})
	if err != nil {
		return err
	}
	return source.SaveMove(ctx, m.Source, dest, m.Dest)
}

// resources are the IDs in each existing stack, by its name.
func (p *place) resources() map[string][]string {
	p.Helper()
	ctx := context.Background()
	b, _ := p.process(-1)
	all := map[string][]string{}
	for _, ref := range []Ref{dev, prod} {
		s := b.stack(ref)
		if s.files.exists(ctx) != nil {
			continue
		}
		snapshot, err := s.Load(ctx)
		require.NoError(p, err, "a stack file is a whole, valid one at every moment")
		all[ref.Name] = []string{}
		for _, r := range snapshot.Resources {
			if r.ID != "" {
				require.Equal(p, ref.Name, r.URN.Stack())
				all[ref.Name] = append(all[ref.Name], r.ID)
			}
		}
	}
	return all
}

// settled checks that only the states are left.
func (p *place) settled(states map[string]string) {
	p.Helper()
	require.Empty(p, p.files(".pulumi/sluice/"))
	require.Empty(p, p.files(".pulumi/locks/"))
	require.Equal(p, states, p.states())
}

// states are the contents of stack files, tags and history: all but copies, locks and journals.
func (p *place) states() map[string]string {
	p.Helper()
	all := p.files(".pulumi/")
	maps.DeleteFunc(all, func(key, _ string) bool {
		return strings.HasSuffix(key, ".bak") || !strings.HasPrefix(key, "stacks/") && !strings.HasPrefix(key, "history/")
	})
	return all
}

// A process that is killed at any moment of a rename or a move leaves two stacks as they were, or the next process that
// opens either completes the operation: no resource is in both, and none is in neither.
func TestKillAtAnyMomentOfAnOperationOnTwoStacksIsCompleted(t *testing.T) {
	for where, fresh := range places() {
		for what, o := range twofolds() {
			t.Run(what+" in "+where, func(t *testing.T) {
				c := newScene(t, o, fresh)
				completed := 0
				for moment := 0; moment < c.moments; moment += c.stride(t) {
					for n, opened := range []Ref{o.from, o.to} {
						if c.slow && moment/c.stride(t)%2 == n {
							continue
						}
						if c.killed(t, moment, opened) {
							completed++
						}
					}
				}
				require.Greater(t, completed, 10/c.stride(t))
			})
		}
	}
}

// killed kills the operation at a moment and lets another process open one of the stacks. It reports whether that
// completed the operation.
func (c *scene) killed(t *testing.T, moment int, opened Ref) (completed bool) {
	t.Helper()
	ctx := context.Background()
	p := c.begin(t)
	b, l := p.process(moment)
	_ = c.do(p, b) // the process is killed before it can use the result
	require.True(t, l.dead)
	intents := p.files(".pulumi/sluice/pairs/")
	for _, record := range intents {
		var in intentRecord
		require.NoError(t, json.Unmarshal([]byte(record), &in))
		for _, side := range in.Sides {
			require.NotContains(t, string(side.Content), "sw0rdfish", "secrets are sealed")
		}
		require.Len(t, p.files(".pulumi/locks/organization/"), 2, "moment %d: Pulumi is kept away from both", moment)
	}
	p.bury()
	p.told = nil
	b, _ = p.process(-1)
	_, err := b.Open(ctx, opened)
	now := p.resources()
	_, exists := now[opened.Name]
	require.Equal(t, exists, err == nil, "moment %d: %v", moment, err)
	all := slices.Concat(now[c.from.Name], now[c.to.Name])
	slices.Sort(all)
	require.Subset(t, []string{"a", "b", "c"}, all)
	require.Len(t, slices.Compact(slices.Clone(all)), len(all), "moment %d: in both stacks: %v", moment, all)
	if len(intents) == 0 {
		require.Empty(t, p.notes)
		if !maps.Equal(p.states(), c.done) {
			p.settled(c.start)
			require.NoError(t, c.do(p, b), "moment %d: nothing has been done, and nothing is in the way", moment)
		}
	} else {
		require.Len(t, p.notes, 1, "moment %d", moment)
		require.Contains(t, p.notes[0], ", was interrupted; it has been completed")
		require.NotContains(t, p.notes[0], "\n")
		if c.renames {
			require.Equal(t, []string{"organization/shop/dev organization/other/prod"}, p.told)
		}
	}
	p.settled(c.done)
	return len(intents) > 0
}

// The process that completes the operation may be killed as well.
func TestKillDuringTheCompletionOfAnOperationOnTwoStacks(t *testing.T) {
	for where, fresh := range places() {
		for what, o := range twofolds() {
			t.Run(what+" in "+where, func(t *testing.T) {
				c := newScene(t, o, fresh)
				for again, ended := 0, false; !ended; again += c.stride(t) {
					p := c.begin(t)
					b, _ := p.process(c.intent)
					_ = c.do(p, b)
					require.Len(t, p.files(".pulumi/sluice/pairs/"), 1)
					p.bury()
					b, l := p.process(again)
					_, _ = b.Open(context.Background(), c.to)
					if ended = !l.dead; !ended {
						p.bury()
						b, _ = p.process(-1)
						_, err := b.Open(context.Background(), c.to)
						require.NoError(t, err)
					}
					p.settled(c.done)
				}
			})
		}
	}
}
