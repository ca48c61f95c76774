package migration

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Function is one state migration. It gets the recorded states of the resource u and of everything below it as a JSON array in the format of checkpoints,
// the resource itself first. Secrets are in the clear. It must change nothing if the states are as it leaves them: it is called again after its result
// is recorded, and in later runs.
type Function func(ctx context.Context, u urn.URN, states []byte) (Result, error)

// Result is what a [Function] returns.
type Result struct {
	// States replace those that the function got; nil leaves them as they are.
	States []byte
	// Successors has, for each resource that is not among States any more, the one among them that takes its place.
	Successors map[urn.URN]urn.URN
}

// Migration is a change of recorded states that the functions of one resource have made.
type Migration struct {
	resource   urn.URN
	root       urn.URN // its recorded name
	before     []byte  // the states that the functions got
	states     []*state.Resource
	next       []*state.Resource
	successors map[urn.URN]urn.URN // of the resources that are gone
}

// Resource returns the URN of the resource whose functions have made the change, as it is registered.
func (m *Migration) Resource() urn.URN { return m.resource }

// Before returns the names of the states that change, After those of the states in their place, and Successor what a resource becomes. A name that is not
// among After has a successor.
func (m *Migration) Before() []urn.URN { return state.URNs(m.states) }

// After returns the names of the states that replace those of Before.
func (m *Migration) After() []urn.URN { return state.URNs(m.next) }

// Successor returns the name that a resource of Before has in After.
func (m *Migration) Successor(u urn.URN) urn.URN {
	if next, gone := m.successors[u]; gone {
		return next
	}
	return u
}

// Evaluate calls the functions of the resource u for its recorded state root, an entry of s, each with the result of the one before. It returns nil if they
// change nothing. It refuses a result that loses an object, names one that was not recorded, or makes a state that is not valid. s is not changed.
func Evaluate(ctx context.Context, s *state.Snapshot, root *state.Resource, u urn.URN, functions []Function) (*Migration, error) {
	m, err := evaluate(ctx, s, root, u, functions)
	if err != nil {
		return nil, fmt.Errorf("state migration of %s: %w", u, err)
	}
	return m, nil
}

func evaluate(ctx context.Context, s *state.Snapshot, root *state.Resource, u urn.URN, functions []Function) (*Migration, error) {
	tree := state.SubtreeOf(s.Resources, root)
	if err := refuseViews(tree.Live); err != nil {
		return nil, err
	}
	before, err := state.EncodeList(ctx, tree.Live)
	if err != nil {
		return nil, err
	}
	c := chain{resource: u, states: tree.Live, text: before, successors: map[urn.URN]urn.URN{}}
	for i, f := range functions {
		if err := c.call(ctx, f); err != nil {
			if len(functions) > 1 {
				err = fmt.Errorf("function %d of %d: %w", i+1, len(functions), err)
			}
			return nil, err
		}
	}
	if same, err := areSame(ctx, tree.Live, c.states); same || err != nil {
		return nil, err
	}
	gone, err := c.final(tree.Live)
	if err != nil {
		return nil, err
	}
	if len(tree.Old) > 0 {
		return nil, fmt.Errorf("%s awaits deletion since an earlier update, and its state cannot be migrated before that is done: "+
			"update once without the change of the state", tree.Old[0].URN)
	}
	m := &Migration{resource: u, root: root.URN, before: before, states: tree.Live, next: c.states, successors: gone}
	if err := (verification{m}).check(ctx, s); err != nil {
		return nil, err
	}
	_, err = m.replace(s, tree.Live)
	return m, err
}

// Apply returns s with the change made. It refuses a state in which the resources are not as the functions found them. s is not changed.
func (m *Migration) Apply(ctx context.Context, s *state.Snapshot) (*state.Snapshot, error) {
	fail := func(err error) (*state.Snapshot, error) {
		return nil, fmt.Errorf("state migration of %s: %w", m.resource, err)
	}
	at := slices.IndexFunc(s.Resources, func(r *state.Resource) bool { return r.URN == m.root && !r.Delete })
	if at < 0 {
		return fail(fmt.Errorf("%s is not recorded any more", m.root))
	}
	prior := state.SubtreeOf(s.Resources, s.Resources[at]).Live
	text, err := state.EncodeList(ctx, prior)
	if err != nil {
		return fail(err)
	}
	if !bytes.Equal(text, m.before) {
		return fail(fmt.Errorf("the recorded state of %s or of a resource below it has changed since the functions were called; run the operation again", m.root))
	}
	out, err := m.replace(s, prior)
	if err != nil {
		return fail(err)
	}
	return out, nil
}

func (m *Migration) replace(s *state.Snapshot, prior []*state.Resource) (*state.Snapshot, error) {
	out, err := state.ReplaceSubtree(s, prior, m.next, state.NewSuccession(m.successors, m.next))
	if err != nil {
		return nil, fmt.Errorf("the result is not a valid state: %w", err)
	}
	return out, nil
}

// chain is the work of the functions of one resource.
type chain struct {
	resource   urn.URN
	states     []*state.Resource
	text       []byte              // of the states
	successors map[urn.URN]urn.URN // of all functions so far
}

// call calls one function with the present states.
func (c *chain) call(ctx context.Context, f Function) error {
	result, err := f(ctx, c.resource, c.text)
	if err != nil {
		return err
	}
	if result.States == nil {
		if len(result.Successors) > 0 {
			return fmt.Errorf("it returns successors and no states")
		}
		return nil
	}
	next, err := state.DecodeList(ctx, result.States)
	if err != nil {
		return fmt.Errorf("the returned states cannot be read: %w", err)
	}
	if err := account(c.states, next, result.Successors); err != nil {
		return err
	}
	for old, u := range result.Successors {
		if known, ok := c.successors[old]; ok && known != u {
			return fmt.Errorf("%s has two successors, %s and %s", old, known, u)
		}
	}
	maps.Copy(c.successors, result.Successors)
	root := c.states[0].URN
	if u, gone := result.Successors[root]; gone {
		root = u
	}
	return c.set(ctx, next, root)
}

// set makes states the present ones, the root first, with references to the successors of resources that are gone.
func (c *chain) set(ctx context.Context, states []*state.Resource, root urn.URN) error {
	known := map[urn.URN]bool{}
	for _, r := range states {
		known[r.URN] = true
	}
	resolved := map[urn.URN]urn.URN{}
	for old := range c.successors {
		u, err := c.successor(old)
		if err != nil {
			return err
		}
		if known[u] {
			resolved[old] = u
		}
	}
	s := state.NewSuccession(resolved, states)
	c.states = make([]*state.Resource, 0, len(states))
	for _, r := range states {
		if next := s.In(r); next != r && r.Type.IsProvider() {
			return fmt.Errorf("the provider %s refers to a resource that is gone; providers must stay as they are", r.URN)
		} else if r.URN == root {
			c.states = slices.Insert(c.states, 0, next)
		} else {
			c.states = append(c.states, next)
		}
	}
	var err error
	c.text, err = state.EncodeList(ctx, c.states)
	return err
}

// successor follows the successors of a resource to the last one.
func (c *chain) successor(u urn.URN) (urn.URN, error) {
	seen := map[urn.URN]bool{}
	for !seen[u] {
		seen[u] = true
		next, ok := c.successors[u]
		if !ok {
			return u, nil
		}
		u = next
	}
	return "", fmt.Errorf("the successors of %s lead back to it", u)
}

// final returns the successors of the original states that are gone.
func (c *chain) final(original []*state.Resource) (map[urn.URN]urn.URN, error) {
	known := map[urn.URN]bool{}
	for _, r := range c.states {
		known[r.URN] = true
	}
	for old := range c.successors {
		u, err := c.successor(old)
		switch {
		case err != nil:
			return nil, err
		case known[old]:
			return nil, fmt.Errorf("%s is returned, and has the successor %s", old, u)
		case !known[u]:
			return nil, fmt.Errorf("%s, the successor of %s, is not returned", u, old)
		}
	}
	gone := map[urn.URN]urn.URN{}
	for _, r := range original {
		if !known[r.URN] {
			gone[r.URN], _ = c.successor(r.URN) // every function accounts for each resource
		}
	}
	return gone, nil
}

// areSame reports whether two lists have the same states, in whatever order.
func areSame(ctx context.Context, a, b []*state.Resource) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	by := func(x, y *state.Resource) int { return bytes.Compare([]byte(x.URN), []byte(y.URN)) }
	one, err := state.EncodeList(ctx, slices.SortedFunc(slices.Values(a), by))
	if err != nil {
		return false, err
	}
	two, err := state.EncodeList(ctx, slices.SortedFunc(slices.Values(b), by))
	return bytes.Equal(one, two), err
}
