package display

import (
	"slices"
	"strings"

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

// complete adds the groups of some rows. A group may be the reason of others, so it looks for groups until there are no more. find returns the
// groups of those rows whose texts are equal, apart from names of their own and of the groups so far.
func (g groupNames) complete(find func() [][]urn.URN) {
	var last [][]urn.URN
	for range maxChain {
		known := len(g)
		groups := find()
		for _, u := range slices.Concat(last...) {
			delete(g, u)
		}
		for _, us := range groups {
			g.add(us)
		}
		if last = groups; len(g) == known {
			return
		}
	}
	find()
}
