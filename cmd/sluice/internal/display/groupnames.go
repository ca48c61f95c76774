package display

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// groupNames has, for each resource that shares a row with others, its URN with the pattern of their names in place of its own. Reasons
// that name such resources differ only in names that no row shows, so that the followers of a group can share a row, too.
type groupNames map[urn.URN]urn.URN

// add adds the resources of a group.
func (g groupNames) add(us []urn.URN) {
	names := make([]string, len(us))
	for i, u := range us {
		names[i] = u.Name()
	}
	shared := pattern(names)
	for i, u := range us {
		g[u] = urn.URN(strings.TrimSuffix(string(u), names[i]) + shared)
	}
}

// of returns the name of a resource in reasons of rows that resources share.
func (g groupNames) of(u urn.URN) urn.URN {
	if shared, grouped := g[u]; grouped {
		return shared
	}
	return u
}

// shared returns a step with a reason that names groups in place of their resources.
func (g groupNames) shared(s stages.StepInfo) stages.StepInfo {
	if len(g) == 0 {
		return s
	}
	s.Reason.Cause = g.of(s.Reason.Cause)
	if was := s.Reason.Possible; was != nil && slices.ContainsFunc(was.Unknowns, func(u stages.Unknown) bool { return g.of(u.Of) != u.Of }) {
		possible := *was
		possible.Unknowns = slices.Clone(was.Unknowns)
		for i, u := range possible.Unknowns {
			possible.Unknowns[i].Of = g.of(u.Of)
		}
		s.Reason.Possible = &possible
	}
	return s
}

// maxChain is the number of groups in a chain, each the reason of the next one, that are found.
const maxChain = 32

// groupsOf finds the groups of a tree. A group may be the reason of others, so it looks until there are no more.
func (p treePrinter) groupsOf(t *tree.Tree) groupNames {
	p.grouped = groupNames{}
	for range maxChain {
		known := len(p.grouped)
		next := groupNames{}
		p.eachGroup(t.Top, func(g []*tree.Node) {
			us := make([]urn.URN, len(g))
			for i, n := range g {
				us[i] = n.URN
			}
			next.add(us)
		})
		if p.grouped = next; len(next) == known {
			break
		}
	}
	return p.grouped
}

// eachGroup calls f for every group of siblings below a node that share a row.
func (p treePrinter) eachGroup(n *tree.Node, f func([]*tree.Node)) {
	children := slices.Collect(n.Children())
	for _, g := range p.alike(children) {
		if len(g) >= minGroup {
			f(g)
		}
	}
	for _, c := range children {
		if !c.IsLeaf() && p.draws(c) {
			p.eachGroup(c, f)
		}
	}
}
