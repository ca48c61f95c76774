package listing

import (
	"cmp"
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Entries say what the entries of a list have in common.
type Entries struct {
	Type urn.Type
	// Parent and Provider are resources of the stack by their names in the list; "" is the stack and the default provider.
	Parent, Provider string
	NameTable        map[string]urn.URN // has both
	Properties       []string
}

// Lists returns a list of all resources that a provider has listed, and one of those that the stack does not manage yet. The stack may be nil.
func (e Entries) Lists(listed []providers.Listed, s *state.Snapshot) (all, fresh *importfile.File) {
	all = &importfile.File{NameTable: map[string]urn.URN{}, Resources: []importfile.Resource{}}
	fresh = &importfile.File{NameTable: map[string]urn.URN{}, Resources: []importfile.Resource{}}
	for name, u := range e.NameTable {
		all.NameTable[name], fresh.NameTable[name] = u, u
	}
	managed, taken := e.managed(s)
	count := map[string]int{}
	for _, l := range listed {
		count[cmp.Or(l.Name, l.ID)]++
	}
	for _, l := range listed {
		q := importfile.Resource{Type: e.Type, ID: l.ID, Parent: e.Parent, Provider: e.Provider, Properties: e.Properties}
		if r := managed[l.ID]; r != nil {
			q.Name, q.Parent = r.URN.Name(), ""
			if r.Parent != "" && !r.Parent.IsRootStack() {
				q.Parent = r.Parent.Name()
				for i := 2; all.NameTable[q.Parent] != "" && all.NameTable[q.Parent] != r.Parent; i++ {
					q.Parent = fmt.Sprintf("%s%d", r.Parent.Name(), i)
				}
				all.NameTable[q.Parent] = r.Parent
			}
			all.Resources = append(all.Resources, q)
			continue
		}
		base := cmp.Or(l.Name, l.ID)
		if count[base] > 1 || taken[base] {
			base += "-" + l.ID
		}
		q.Name = base
		for i := 2; taken[q.Name]; i++ {
			q.Name = fmt.Sprintf("%s-%d", base, i)
		}
		taken[q.Name] = true
		all.Resources, fresh.Resources = append(all.Resources, q), append(fresh.Resources, q)
	}
	return all, fresh
}

// managed returns the resources of the stack that are such objects, by their IDs, and the names that are taken.
func (e Entries) managed(s *state.Snapshot) (map[string]*state.Resource, map[string]bool) {
	managed, taken := map[string]*state.Resource{}, map[string]bool{}
	if s == nil {
		return managed, taken
	}
	for _, r := range s.Resources {
		if r.Type != e.Type || r.Delete {
			continue
		}
		taken[r.URN.Name()] = true
		ref, err := urn.ParseProviderRef(r.Provider)
		if err != nil {
			continue
		}
		if r.External {
			continue // it is read and not managed
		}
		if own := e.NameTable[e.Provider]; ref.URN == own || own == "" && ref.URN.IsDefaultProvider() {
			managed[r.ID] = r
		}
	}
	return managed, taken
}
