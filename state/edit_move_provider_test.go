package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/urn"
)

// belowProviders is a stack in which resources have providers as their parents, one of which belongs to a component.
func belowProviders() *Snapshot {
	const a = "urn:pulumi:dev::shop::"
	root := urn.URN(a + "pulumi:pulumi:Stack::shop-dev")
	resource := func(u, parent urn.URN, id string) *Resource {
		return &Resource{URN: u, Type: u.Type(), Parent: parent, ID: id, Custom: id != ""}
	}
	p := resource(a+"pulumi:providers:pkg::p", root, "p-1")
	child := resource(a+"pulumi:providers:pkg$pkg:m:Leaf::child", p.URN, "c-1")
	grandchild := resource(a+"pulumi:providers:pkg$pkg:m:Leaf$pkg:m:Leaf::grandchild", child.URN, "g-1")
	sibling := resource(a+"pulumi:providers:pkg$pkg:m:Leaf::sibling", p.URN, "s-1")
	group := resource(a+"pkg:m:Group::group", root, "")
	q := resource(a+"pkg:m:Group$pulumi:providers:pkg::q", group.URN, "q-1")
	inner := resource(a+"pkg:m:Group$pulumi:providers:pkg$pulumi:providers:pkg::inner", q.URN, "i-1")
	below := resource(a+"pkg:m:Group$pulumi:providers:pkg$pulumi:providers:pkg$pkg:m:Leaf::below", inner.URN, "b-1")
	for _, r := range []*Resource{child, grandchild, sibling} {
		r.Provider = ProviderRefOf(p)
	}
	below.Provider = ProviderRefOf(p)
	return &Snapshot{Resources: []*Resource{resource(root, "", ""), p, child, grandchild, sibling, group, q, inner, below}}
}

// moved returns the parents of the resources that a move puts into another stack, by names.
func moved(t *testing.T, s *Snapshot, parents bool, names ...string) map[string]string {
	t.Helper()
	var chosen []*Resource
	for _, r := range s.Resources {
		for _, name := range names {
			if r.URN.Name() == name {
				chosen = append(chosen, r)
			}
		}
	}
	m, err := Move(t.Context(), s, nil, chosen, MoveOptions{Parents: parents, Stack: "prod", Project: "net"})
	require.NoError(t, err)
	require.NoError(t, Verify(m.Source))
	require.NoError(t, Verify(m.Dest))
	out := map[string]string{}
	for _, r := range m.Dest.Resources {
		out[r.URN.Name()] = r.Parent.Name()
		if r.Parent != "" {
			require.Equal(t, r.URN.Under(r.Parent), r.URN)
		}
	}
	return out
}

// A provider that is an ancestor of a moved resource is copied, and its children stay its children.
func TestMovesKeepResourcesBelowProviders(t *testing.T) {
	require.Equal(t, map[string]string{"net-prod": "", "p": "net-prod", "child": "p", "grandchild": "child"}, moved(t, belowProviders(), true, "grandchild"))
	require.Equal(t, map[string]string{"net-prod": "", "p": "net-prod", "grandchild": "net-prod"}, moved(t, belowProviders(), false, "grandchild"))
	require.Equal(t, map[string]string{"net-prod": "", "p": "net-prod", "child": "net-prod", "grandchild": "child"}, moved(t, belowProviders(), false, "child"))
	all := map[string]string{"net-prod": "", "group": "net-prod", "p": "net-prod", "q": "group", "inner": "q", "below": "inner"}
	require.Equal(t, all, moved(t, belowProviders(), true, "below"))
	require.Equal(t, all, moved(t, belowProviders(), false, "group")) // its children come with it
}
