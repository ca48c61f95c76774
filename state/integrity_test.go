package state

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/urn"
)

func TestMagicOfTheSpecification(t *testing.T) {
	require.Equal(t, "7dff0d166258e7f1d265e8e044021ea087795d58a0c6415ab6fe8b7c790e447f", Magic("v3.260.0"))
	require.Empty(t, Magic(""))
}

func TestIntegrityRules(t *testing.T) {
	p := provider("default", "1")
	for name, c := range map[string]struct {
		snapshot *Snapshot
		want     IntegrityError // Rule, Index, Target and Later; Rule "" means valid
	}{
		"nothing": {snapshot: nil},
		"empty":   {snapshot: snapshotOf()},
		"magic": {
			snapshot: &Snapshot{Manifest: Manifest{Version: "v1", Magic: "00"}},
			want:     IntegrityError{Rule: RuleMagic, Index: -1},
		},
		"no urn":            {snapshotOf(&Resource{Type: "a:b:C"}), IntegrityError{Rule: RuleResource}},
		"no type":           {snapshotOf(box("a"), &Resource{URN: boxURN("b")}), IntegrityError{Rule: RuleResource, Index: 1}},
		"component with ID": {snapshotOf(&Resource{URN: boxURN("b"), Type: "a:b:C", ID: "1"}), IntegrityError{Rule: RuleResource}},
		"provider whose URN is of another type": {
			snapshotOf(&Resource{URN: boxURN("p"), Type: p.Type, Custom: true, ID: "1"}), IntegrityError{Rule: RuleProviderResource},
		},
		"provider before its resource": {snapshot: snapshotOf(p, box("a", func(r *Resource) { r.Provider = ProviderRefOf(p) }))},
		"provider without an ID is referred to as unknown": {snapshot: snapshotOf(provider("u", ""), box("a", func(r *Resource) {
			r.Provider = string(provider("u", "").URN) + "::" + urn.UnknownID
		}))},
		"empty provider ID in the reference": {snapshot: snapshotOf(provider("u", ""), box("a", func(r *Resource) {
			r.Provider = string(provider("u", "").URN) + "::"
		}))},
		"provider after its resource": {
			snapshotOf(box("a", func(r *Resource) { r.Provider = ProviderRefOf(p) }), p),
			IntegrityError{Rule: RuleProvider, Target: ProviderRefOf(p), Later: true},
		},
		"provider with another ID": {
			snapshotOf(p, box("a", func(r *Resource) { r.Provider = ProviderRefOf(provider("default", "2")) })),
			IntegrityError{Rule: RuleProvider, Index: 1, Target: ProviderRefOf(provider("default", "2"))},
		},
		"provider with another ID of a pending replacement": {snapshot: snapshotOf(box("a", func(r *Resource) {
			r.Provider, r.PendingReplacement = ProviderRefOf(p), true
		}))},
		"unreadable provider reference of a pending replacement": {
			snapshotOf(box("a", func(r *Resource) { r.Provider, r.PendingReplacement = "nonsense", true })),
			IntegrityError{Rule: RuleProvider, Target: "nonsense"},
		},
		"an old copy of a provider serves": {snapshot: snapshotOf(provider("default", "2"),
			&Resource{URN: p.URN, Custom: true, ID: "1", Type: p.Type, Delete: true},
			box("a", func(r *Resource) { r.Provider = ProviderRefOf(p) }))},
		"parent missing": {
			snapshotOf(box("a", func(r *Resource) { r.Parent = testRoot })),
			IntegrityError{Rule: RuleParent, Target: string(testRoot)},
		},
		"parent later": {
			snapshotOf(box("a", func(r *Resource) { r.Parent = testRoot }), &Resource{URN: testRoot, Type: urn.RootStackType}),
			IntegrityError{Rule: RuleParent, Target: string(testRoot), Later: true},
		},
		"dependency missing":        {snapshotOf(box("a", dependsOn("b"))), IntegrityError{Rule: RuleDependencies, Target: string(boxURN("b"))}},
		"dependency later":          {snapshotOf(box("a", dependsOn("b")), box("b")), IntegrityError{Rule: RuleDependencies, Target: string(boxURN("b")), Later: true}},
		"dependency on itself":      {snapshotOf(box("a", dependsOn("a"))), IntegrityError{Rule: RuleDependencies, Target: string(boxURN("a")), Later: true}},
		"dependency on an old copy": {snapshot: snapshotOf(box("b", old), box("a", dependsOn("b")))},
		"property dependency missing": {
			snapshotOf(box("a", func(r *Resource) {
				r.PropertyDependencies = map[string][]urn.URN{"z": {boxURN("y")}, "k": {boxURN("x")}}
			})),
			IntegrityError{Rule: RulePropertyDependencies, Target: string(boxURN("x"))},
		},
		"deletedWith missing":         {snapshotOf(box("a", func(r *Resource) { r.DeletedWith = boxURN("b") })), IntegrityError{Rule: RuleDeletedWith, Target: string(boxURN("b"))}},
		"replaceWith missing":         {snapshotOf(box("a", func(r *Resource) { r.ReplaceWith = []urn.URN{boxURN("b")} })), IntegrityError{Rule: RuleReplaceWith, Target: string(boxURN("b"))}},
		"duplicate":                   {snapshotOf(box("a"), box("a")), IntegrityError{Rule: RuleDuplicate, Index: 1}},
		"duplicate after an old copy": {snapshotOf(box("a"), box("a", old), box("a")), IntegrityError{Rule: RuleDuplicate, Index: 2}},
		"old copies":                  {snapshot: snapshotOf(box("a", old), box("a"), box("a", old))},
		"snippet without uuid":        {&Snapshot{Snippets: []json.RawMessage{[]byte(`{"name":"x"}`)}}, IntegrityError{Rule: RuleSnippets}},
		"snippets twice":              {&Snapshot{Snippets: []json.RawMessage{[]byte(`{"uuid":"x"}`), []byte(`{"uuid":"x"}`)}}, IntegrityError{Rule: RuleSnippets, Index: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			err := Verify(c.snapshot)
			if c.want.Rule == "" {
				require.NoError(t, err)
				return
			}
			var got *IntegrityError
			require.ErrorAs(t, err, &got)
			require.Equal(t, c.want, IntegrityError{Rule: got.Rule, Index: got.Index, Target: got.Target, Later: got.Later})
			require.Contains(t, err.Error(), string(got.URN))
			require.Contains(t, err.Error(), got.Target)
		})
	}
}

func TestRepair(t *testing.T) {
	group := component("g", testRoot)
	child := &Resource{URN: group.URN.Child("testpkg:index:Box", "c"), Type: "testpkg:index:Box", Custom: true, ID: "1", Parent: group.URN}
	grandchild := &Resource{URN: child.URN.Child("testpkg:index:Box", "gc"), Type: "testpkg:index:Box", Custom: true, ID: "2", Parent: child.URN}

	t.Run("order", func(t *testing.T) {
		out, err := Repair(snapshotOf(box("a", dependsOn("b")), box("b", dependsOn("c")), box("c")))
		require.NoError(t, err)
		require.Equal(t, []string{"c", "b", "a"}, namesOf(out.Resources))
	})
	t.Run("missing references are dropped", func(t *testing.T) {
		a := box("a", dependsOn("x", "b"), func(r *Resource) {
			r.PropertyDependencies = map[string][]urn.URN{"k": {boxURN("x")}, "l": {boxURN("b")}}
			r.DeletedWith, r.ReplaceWith = boxURN("x"), []urn.URN{boxURN("b"), boxURN("x")}
		})
		out, err := Repair(snapshotOf(box("b"), a))
		require.NoError(t, err)
		got := out.Resources[1]
		require.Equal(t, []urn.URN{boxURN("b")}, got.Dependencies)
		require.Empty(t, got.PropertyDependencies["k"])
		require.Equal(t, []urn.URN{boxURN("b")}, got.PropertyDependencies["l"])
		require.Empty(t, got.DeletedWith)
		require.Equal(t, []urn.URN{boxURN("b")}, got.ReplaceWith)
		require.Equal(t, boxURN("x"), a.DeletedWith, "the original is not changed")
	})
	t.Run("children of a missing parent are renamed", func(t *testing.T) {
		out, err := Repair(snapshotOf(child, grandchild, box("d", func(r *Resource) { r.Dependencies = []urn.URN{grandchild.URN} })))
		require.NoError(t, err)
		top := child.URN.Under("")
		require.Equal(t, top, out.Resources[0].URN)
		require.Empty(t, out.Resources[0].Parent)
		require.Equal(t, top, out.Resources[1].Parent)
		require.Equal(t, top.Child("testpkg:index:Box", "gc"), out.Resources[1].URN)
		require.Equal(t, []urn.URN{out.Resources[1].URN}, out.Resources[2].Dependencies)
	})
	t.Run("a cycle is an error", func(t *testing.T) {
		_, err := Repair(snapshotOf(box("a", dependsOn("b")), box("b", dependsOn("a"))))
		var cycle *ReferenceCycleError
		require.ErrorAs(t, err, &cycle)
		require.ElementsMatch(t, []urn.URN{boxURN("a"), boxURN("b")}, cycle.URNs)
	})
	t.Run("what cannot be repaired is an error", func(t *testing.T) {
		for name, s := range map[string]*Snapshot{
			"duplicate":         snapshotOf(box("a"), box("a")),
			"dangling provider": snapshotOf(box("a", func(r *Resource) { r.Provider = ProviderRefOf(provider("p", "1")) })),
		} {
			out, err := Repair(s)
			var broken *IntegrityError
			require.ErrorAs(t, err, &broken, name)
			require.Nil(t, out, name)
		}
	})
	t.Run("a valid snapshot is returned as it is", func(t *testing.T) {
		s := snapshotOf(box("a"))
		out, err := Repair(s)
		require.NoError(t, err)
		require.Same(t, s, out)
	})
}
