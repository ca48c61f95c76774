package state

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

func rootStack(stack, project string) *Resource {
	return &Resource{URN: urn.RootStack(stack, project), Type: urn.RootStackType}
}

// child makes a resource below parent, which may be the root stack.
func child(parent *Resource, name string, change ...func(*Resource)) *Resource {
	r := box(name, change...)
	r.Parent = parent.URN
	r.URN = r.URN.Under(parent.URN)
	return r
}

func moveTo(t require.TestingT, source, dest *Snapshot, parents bool, resources ...*Resource) (*Movement, error) {
	m, err := Move(context.Background(), source, dest, resources, MoveOptions{Parents: parents, Stack: "prod", Project: "depot"})
	if err == nil {
		require.NoError(t, Verify(m.Source))
		require.NoError(t, Verify(m.Dest))
		require.NoError(t, VerifyNames(m.Dest))
	}
	return m, err
}

func TestMovingTakesChildrenProvidersAndReferencesAlong(t *testing.T) {
	root := rootStack("dev", "shop")
	prov := provider("p", "1")
	using := func(r *Resource) { r.Provider = ProviderRefOf(prov) }
	group := component("group", root.URN)
	inner := child(group, "inner", using)
	sibling := child(group, "sibling", using, func(r *Resource) {
		r.Dependencies = []urn.URN{inner.URN, boxURN("stays")}
		r.PropertyDependencies = map[string][]urn.URN{"x": {boxURN("stays")}, "y": {inner.URN}}
		r.DeletedWith = boxURN("stays")
		r.Inputs = property.NewMap(map[string]property.Value{"ref": reference(inner.URN)})
		r.ExtensionRef = "e"
	})
	stays := child(root, "stays", using)
	view := box("view", func(r *Resource) { r.ViewOf = inner.URN })
	user := child(root, "user", func(r *Resource) {
		r.Dependencies, r.ReplaceWith = []urn.URN{inner.URN, stays.URN}, []urn.URN{inner.URN}
	})
	source := snapshotOf(root, prov, stays, group, inner, sibling, view, user)
	source.Extensions = map[string]json.RawMessage{"e": json.RawMessage(`{}`)}
	source.Pending = []Pending{{Type: Creating, Resource: box("p")}}

	m, err := moveTo(t, source, nil, false, group)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-dev", "p", "stays", "user"}, namesOf(m.Source.Resources))
	require.Equal(t, []string{"depot-prod", "p", "group", "inner", "sibling", "view"}, namesOf(m.Dest.Resources))
	at := m.Dest.Resources
	require.Equal(t, urn.URN("urn:pulumi:prod::depot::pulumi:pulumi:Stack::depot-prod"), at[0].URN)
	require.Equal(t, urn.URN("urn:pulumi:prod::depot::shop:index:Group::group"), at[2].URN)
	require.Equal(t, at[0].URN, at[2].Parent)
	require.Equal(t, urn.URN("urn:pulumi:prod::depot::shop:index:Group$testpkg:index:Box::inner"), at[3].URN)
	require.Equal(t, at[2].URN, at[3].Parent)
	require.Equal(t, ProviderRefOf(at[1]), at[3].Provider)
	require.Equal(t, "1", at[1].ID)
	require.Equal(t, []urn.URN{at[3].URN}, at[4].Dependencies)
	require.Equal(t, []urn.URN{at[3].URN}, at[4].PropertyDependencies["y"])
	require.Empty(t, at[4].PropertyDependencies["x"])
	require.Empty(t, at[4].DeletedWith)
	require.Equal(t, at[3].URN, at[4].Inputs.At("ref").AsReference().URN)
	require.Equal(t, at[3].URN, at[5].ViewOf)
	require.Equal(t, source.Extensions, m.Dest.Extensions)
	require.Empty(t, m.Source.Extensions)
	require.Equal(t, []urn.URN{stays.URN}, m.Source.Resources[3].Dependencies)
	require.Empty(t, m.Source.Resources[3].ReplaceWith)
	require.Equal(t, []DroppedReference{{user.URN, inner.URN, "depends on", ""}, {user.URN, inner.URN, "is replaced with", ""}}, m.Left)
	require.Len(t, m.Lost, 3)
	require.Len(t, m.Dropped, 1)
	require.Empty(t, m.Source.Pending)

	// The same again, as after a crash between the two writes, and into a stack that has the resources already.
	again, err := moveTo(t, source, m.Dest, false, group)
	require.NoError(t, err)
	require.Equal(t, m.Dest.Resources, again.Dest.Resources)
	require.Equal(t, namesOf(m.Source.Resources), namesOf(again.Source.Resources))
	require.True(t, again.Moved[0].Existing && again.Providers[0].Existing)
}

func TestMovingWithParentsOrWithout(t *testing.T) {
	root := rootStack("dev", "shop")
	outer := component("outer", root.URN)
	group := component("group", outer.URN)
	a, b := child(group, "a"), child(group, "b")
	source := snapshotOf(root, outer, group, a, b)

	m, err := moveTo(t, source, nil, false, a)
	require.NoError(t, err)
	require.Equal(t, []string{"depot-prod", "a"}, namesOf(m.Dest.Resources))
	require.Equal(t, urn.URN("urn:pulumi:prod::depot::testpkg:index:Box::a"), m.Dest.Resources[1].URN, "the types of its ancestors are gone")
	m, err = moveTo(t, source, nil, true, a)
	require.NoError(t, err)
	require.Equal(t, []string{"depot-prod", "outer", "group", "a", "b"}, namesOf(m.Dest.Resources))
	require.Equal(t, []string{"shop-dev"}, namesOf(m.Source.Resources))
	m, err = moveTo(t, source, nil, false, root)
	require.NoError(t, err, "the stack resource stands for all that is below it")
	require.Equal(t, []string{"shop-dev"}, namesOf(m.Source.Resources))
}

func TestWhatCannotBeMoved(t *testing.T) {
	prov := provider("p", "1")
	a := box("a", func(r *Resource) { r.Provider = ProviderRefOf(prov) })
	view := box("view", func(r *Resource) { r.ViewOf = a.URN })
	source := snapshotOf(rootStack("dev", "shop"), prov, a, view)
	there := func(r *Resource) *Resource {
		c := r.Clone()
		c.URN = c.URN.WithStack("prod").WithProject("depot")
		return c
	}
	_, err := moveTo(t, source, nil, false, prov)
	require.ErrorContains(t, err, "providers are copied along")
	_, err = moveTo(t, source, nil, false, view)
	require.ErrorContains(t, err, "is a part of")
	_, err = moveTo(t, source, snapshotOf(there(box("a"))), false, a)
	require.ErrorContains(t, err, "the destination has another resource")
	_, err = moveTo(t, snapshotOf(rootStack("dev", "shop")), nil, false, source.Resources[0])
	require.ErrorContains(t, err, "nothing to move")

	other := there(provider("p", "2"))
	m, err := moveTo(t, source, snapshotOf(other), false, a)
	require.NoError(t, err, "a provider with equal inputs takes its place")
	require.Equal(t, ProviderRefOf(other), m.Moved[0].To.Provider)
	other.Inputs = property.NewMap(map[string]property.Value{"region": property.String("x")})
	_, err = moveTo(t, source, snapshotOf(other), false, a)
	require.ErrorContains(t, err, "with another configuration")
}

func TestAnOldProviderIsCopiedForTheOldResourcesThatUseIt(t *testing.T) {
	root, now, before := rootStack("dev", "shop"), provider("p", "2"), provider("p", "1")
	before.Delete = true
	a := child(root, "a", func(r *Resource) { r.Provider = ProviderRefOf(now) })
	gone := child(root, "a", old, func(r *Resource) { r.ID, r.Provider = "older", ProviderRefOf(before) })
	m, err := moveTo(t, snapshotOf(root, now, before, a, gone), nil, false, a)
	require.NoError(t, err)
	require.Equal(t, []string{"depot-prod", "p", "p(old)", "a", "a(old)"}, namesOf(m.Dest.Resources), "all copies of a resource move")
	at := m.Dest.Resources
	require.Equal(t, []string{ProviderRefOf(at[1]), ProviderRefOf(at[2])}, []string{at[3].Provider, at[4].Provider})
}

func TestAProviderBelowWhatIsMovedFollowsItsUsers(t *testing.T) {
	root := rootStack("dev", "shop")
	group := component("group", root.URN)
	prov := provider("p", "1")
	prov.Parent, prov.URN = group.URN, prov.URN.Under(group.URN)
	using := func(r *Resource) { r.Provider = ProviderRefOf(prov) }
	source := snapshotOf(root, group, prov, child(group, "a", using))
	m, err := moveTo(t, source, nil, false, group)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-dev"}, namesOf(m.Source.Resources), "nothing that stays uses it")
	require.Equal(t, m.Moved[0].To.URN, m.Providers[0].To.Parent)

	source.Resources = append(source.Resources, child(root, "b", using))
	m, err = moveTo(t, source, nil, false, group)
	require.NoError(t, err)
	require.Equal(t, []string{"shop-dev", "p", "b"}, namesOf(m.Source.Resources))
	require.Equal(t, root.URN, m.Source.Resources[1].Parent)
	require.Equal(t, ProviderRefOf(m.Source.Resources[1]), m.Source.Resources[2].Provider)
}

// drawState draws a valid state with components, providers, old copies, views and references of all kinds.
func drawState(t *rapid.T) *Snapshot {
	rs := []*Resource{rootStack("dev", "shop")}
	parents := []*Resource{rs[0]}
	var providers []*Resource
	some := func(label string, n int) bool { return rapid.IntRange(0, n).Draw(t, label) == 0 }
	for i := range rapid.IntRange(1, 12).Draw(t, "size") {
		parent := rapid.SampledFrom(parents).Draw(t, "parent")
		var r *Resource
		switch name := fmt.Sprintf("r%d", i); rapid.SampledFrom([]string{"component", "provider", "box", "box", "box"}).Draw(t, "kind") {
		case "component":
			r = component(name, parent.URN)
			r.URN = urn.New("dev", "shop", "", r.Type, name).Under(parent.URN)
			parents = append(parents, r)
		case "provider":
			r = provider(name, fmt.Sprintf("id%d", i))
			r.Parent, r.URN = parent.URN, r.URN.Under(parent.URN)
			providers = append(providers, r)
		default:
			r = child(parent, name)
			if len(providers) > 0 && some("uses a provider", 1) {
				r.Provider = ProviderRefOf(rapid.SampledFrom(providers).Draw(t, "provider"))
			}
			if some("view", 6) {
				r.ViewOf = rapid.SampledFrom(rs).Draw(t, "owner").URN
			}
		}
		for _, other := range rs {
			if some("depends", 5) {
				r.Dependencies = append(r.Dependencies, other.URN)
			}
			if some("depends by property", 8) {
				r.PropertyDependencies = map[string][]urn.URN{"x": {other.URN}}
			}
			if some("deleted with", 12) {
				r.DeletedWith = other.URN
			}
			if some("replaced with", 12) {
				r.ReplaceWith = []urn.URN{other.URN}
			}
		}
		r.Protect = some("protected", 6)
		rs = append(rs, r)
		if r.Custom && some("old copy", 5) {
			c := r.Clone()
			c.Delete, c.ID = true, r.ID+"-old"
			rs = append(rs, c)
			if r.Type.IsProvider() {
				providers = append(providers, c) // a resource may still use it
			}
		}
	}
	s := snapshotOf(rs...)
	require.NoError(t, Verify(s), "the model is wrong")
	return s
}

func TestEveryEditOfAValidStateIsValidAndLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		before := namesOf(s.Resources)
		target := rapid.SampledFrom(s.Resources).Draw(t, "target")
		valid := func(out *Snapshot) {
			require.NoError(t, Verify(out))
			require.NoError(t, VerifyNames(out))
		}
		o := DeleteOptions{Dependents: rapid.Bool().Draw(t, "dependents"), Protected: rapid.Bool().Draw(t, "force")}
		if out, removed, err := Delete(s, []*Resource{target}, o); err == nil {
			valid(out)
			require.Contains(t, removed, target)
			require.ElementsMatch(t, s.Resources, append(removed, out.Resources...), "what stays is untouched")
		}
		if out, err := Rename(s, target, "renamed"); err == nil {
			valid(out)
			require.Len(t, out.Resources, len(s.Resources))
			back, err := Rename(out, out.Resources[indexOf(s, target)], target.URN.Name())
			require.NoError(t, err)
			require.Equal(t, s.Resources, back.Resources, "a rename and back changes nothing")
		}
		m, err := moveTo(t, s, nil, rapid.Bool().Draw(t, "parents"), target)
		if err == nil {
			providers := func(rs []*Resource) int {
				n := 0
				for _, r := range rs {
					if r.Type.IsProvider() {
						n++
					}
				}
				return n
			}
			kept := len(m.Source.Resources) - providers(m.Source.Resources)
			gone := len(m.Dest.Resources) - providers(m.Dest.Resources) - 1 // its stack resource
			require.Equal(t, len(s.Resources)-providers(s.Resources), kept+gone, "every resource is in exactly one of the two")
			again, err := moveTo(t, s, m.Dest, false, sourcesOf(m.Moved)...)
			require.NoError(t, err, "an interrupted move can be finished")
			require.Len(t, again.Dest.Resources, len(m.Dest.Resources))
		}
		require.Equal(t, before, namesOf(s.Resources))
	})
}

func sourcesOf(moved []Moved) []*Resource {
	var rs []*Resource
	for _, m := range moved {
		rs = append(rs, m.From)
	}
	return rs
}

func indexOf(s *Snapshot, r *Resource) int {
	for i, o := range s.Resources {
		if o == r {
			return i
		}
	}
	return -1
}
