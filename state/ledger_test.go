package state

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

func ledgerOn(rs ...*Resource) *Ledger {
	return NewLedger(snapshotOf(rs...), LedgerOptions{Version: "t", Now: func() time.Time { return time.Unix(0, 0).UTC() }})
}

func snapshotFrom(t *testing.T, l *Ledger) *Snapshot {
	t.Helper()
	s, err := l.Snapshot()
	require.NoError(t, err)
	require.NoError(t, Verify(s))
	return s
}

func TestUntouchedStackKeepsItsOrder(t *testing.T) {
	l := ledgerOn(box("z"), box("b", dependsOn("z")), box("a"))
	require.Equal(t, []string{"z", "b", "a"}, namesOf(snapshotFrom(t, l).Resources))
}

func TestCanonicalOrder(t *testing.T) {
	z, b, a := box("z"), box("b", dependsOn("z")), box("a")
	p1, p2 := provider("prov", "1"), provider("prov", "2")
	uses := func(p *Resource) func(*Resource) { return func(r *Resource) { r.Provider = ProviderRefOf(p) } }
	oldOf := func(r *Resource) *Resource { c := r.Clone(); c.Delete = true; return c }
	withID := func(id string) func(*Resource) { return func(r *Resource) { r.ID = id } }
	first, second := box("z", withID("1")), box("z", withID("2"))
	for name, c := range map[string]struct {
		base    []*Resource
		changes []Change
		want    []string
	}{
		"a changed resource stays in its place": {
			[]*Resource{z, b, a}, []Change{{Add: box("z"), Remove: []*Resource{z}}}, []string{"z", "b", "a"},
		},
		"new resources come last, by URN": {
			[]*Resource{z, b}, []Change{{Add: box("y")}, {Add: box("c")}}, []string{"z", "b", "c", "y"},
		},
		"a new stack comes before what is new in it": {
			nil, []Change{{Add: box("a")}, {Add: &Resource{URN: urn.RootStack("s", "p"), Type: urn.RootStackType}}}, []string{"p-s", "a"},
		},
		"a new dependency is pulled before its first user": {
			[]*Resource{z, b, a},
			[]Change{{Add: box("new")}, {Add: box("c")}, {Add: box("b", dependsOn("z", "new")), Remove: []*Resource{b}}},
			[]string{"z", "new", "b", "a", "c"},
		},
		"an old copy comes after the live entry": {
			[]*Resource{z, a}, []Change{{Add: box("z"), Replace: []Replacement{{z, oldOf(z)}}}, {Add: box("y")}},
			[]string{"z", "z(old)", "a", "y"},
		},
		"an old copy comes before what may have been made from it": {
			[]*Resource{z, b}, []Change{{Add: box("z"), Replace: []Replacement{{z, oldOf(z)}}}}, []string{"z", "z(old)", "b"},
		},
		"an old provider comes before those that still use it": {
			[]*Resource{p1, box("x", uses(p1)), box("w", uses(p1)), a},
			[]Change{{Add: p2, Replace: []Replacement{{p1, oldOf(p1)}}}},
			[]string{"prov", "prov(old)", "x", "w", "a"},
		},
		"a pending replacement stays in its place": {
			[]*Resource{z, a}, []Change{{Replace: []Replacement{{z, box("z", func(r *Resource) { r.PendingReplacement = true })}}}},
			[]string{"z", "a"},
		},
		"before those that refer to it": {
			[]*Resource{z, b, a}, []Change{{Replace: []Replacement{{z, box("z", func(r *Resource) { r.PendingReplacement = true })}}}},
			[]string{"z", "b", "a"},
		},
		"a changed resource stays in its place, also behind its old copy": {
			[]*Resource{oldOf(z), a, z}, []Change{{Add: box("z"), Remove: []*Resource{z}}}, []string{"z(old)", "a", "z"},
		},
		"what awaits its replacement is among the old copies, by ID": {
			[]*Resource{first},
			[]Change{
				{Add: second, Replace: []Replacement{{first, oldOf(first)}}},
				{Replace: []Replacement{{second, box("z", withID("2"), func(r *Resource) { r.PendingReplacement = true })}}},
			},
			[]string{"z(old)", "z"},
		},
		"an untouched list keeps its order": {
			[]*Resource{box("z", func(r *Resource) { r.PendingReplacement = true }), a}, nil, []string{"z", "a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := ledgerOn(c.base...)
			for _, change := range c.changes {
				require.NoError(t, l.End(change))
			}
			require.Equal(t, c.want, namesOf(snapshotFrom(t, l).Resources))
		})
	}
}

// An earlier run may have left the same operation, and a run can leave several that are equal in all sort keys.
func TestPendingOperationsOfTheBaseComeFirst(t *testing.T) {
	base := &Snapshot{}
	for range 8 {
		base.Pending = append(base.Pending, Pending{Type: Creating, Resource: box("a")})
	}
	l := NewLedger(base, LedgerOptions{})
	now := box("a")
	require.NoError(t, l.Begin(Pending{Type: Creating, Resource: now}))
	got := snapshotFrom(t, l).Pending
	require.Len(t, got, 9)
	for i, want := range append(slices.Clone(base.Pending), Pending{Type: Creating, Resource: now}) {
		require.Same(t, want.Resource, got[i].Resource, "place %d", i)
	}
}

func TestPendingOperationsAreListedByURN(t *testing.T) {
	base := snapshotOf(box("a"))
	creating, updating := box("made"), box("a")
	base.Pending = []Pending{{Type: Updating, Resource: updating}, {Type: Creating, Resource: creating}, {Type: Deleting, Resource: box("x")}}
	l := NewLedger(base, LedgerOptions{})
	one, two := box("two"), box("b")
	require.NoError(t, l.Begin(Pending{Type: Updating, Resource: one}))
	require.NoError(t, l.Begin(Pending{Type: Creating, Resource: two}))
	require.Error(t, l.Begin(Pending{Type: Creating, Resource: two}), "begun twice")
	s := snapshotFrom(t, l)
	require.Equal(t, []Pending{{Type: Updating, Resource: updating}, {Type: Creating, Resource: two}, {Type: Creating, Resource: creating}, {Type: Updating, Resource: one}, {Type: Deleting, Resource: base.Pending[2].Resource}}, s.Pending)

	require.NoError(t, l.End(Change{Begun: two, Add: two}))
	require.ErrorIs(t, l.End(Change{Begun: two}), ErrNotRecorded)
	require.NoError(t, l.End(Change{Begun: creating}), "a pending create of the base can be resolved")
	require.NoError(t, l.End(Change{Begun: updating}), "a pending update can")
	require.Equal(t, []Pending{{Type: Updating, Resource: one}, {Type: Deleting, Resource: base.Pending[2].Resource}}, snapshotFrom(t, l).Pending)
}

func TestUpdatesAndDeletesOfTheBaseStayPendingUntilTheirObjectIsKnown(t *testing.T) {
	a, other := box("a"), box("b")
	changed := func() *Resource { return a.Clone() }
	copied := a.Clone()
	copied.ID, copied.Delete = "id-old", true
	replaced := a.Clone()
	replaced.Delete = true
	for name, c := range map[string]struct {
		begun    PendingType
		change   func(begun, added *Resource) Change
		resolved bool
	}{
		"updated again": {Updating, func(begun, added *Resource) Change {
			return Change{Begun: begun, Remove: []*Resource{a}, Add: added}
		}, true},
		"deleted":               {Deleting, func(begun, _ *Resource) Change { return Change{Begun: begun, Remove: []*Resource{a}} }, true},
		"an update that failed": {Updating, func(begun, _ *Resource) Change { return Change{Begun: begun} }, false},
		"read": {"", func(_, added *Resource) Change {
			return Change{Refresh: true, Replace: []Replacement{{a, added}}, Elide: true}
		}, true},
		"vanished":                 {"", func(_, _ *Resource) Change { return Change{Refresh: true, Remove: []*Resource{a}} }, true},
		"unchanged by the program": {"", func(_, added *Resource) Change { return Change{Remove: []*Resource{a}, Add: added} }, false},
		"replaced": {Creating, func(begun, added *Resource) Change {
			added.ID = "id-new"
			return Change{Begun: begun, Replace: []Replacement{{a, replaced}}, Add: added}
		}, false},
		"an old copy is deleted": {Deleting, func(begun, _ *Resource) Change { return Change{Begun: begun, Remove: []*Resource{copied}} }, false},
		"something else is read": {"", func(_, _ *Resource) Change {
			return Change{Refresh: true, Replace: []Replacement{{other, other.Clone()}}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, typ := range []PendingType{Updating, Deleting} {
				base := snapshotOf(copied, a, other)
				op := Pending{Type: typ, Resource: changed()}
				if typ == Updating {
					op.Resource.ID = "" // as in the record
				}
				base.Pending = []Pending{op}
				l := NewLedger(base, LedgerOptions{})
				begun := changed()
				if c.begun != "" {
					require.NoError(t, l.Begin(Pending{Type: c.begun, Resource: begun}))
				}
				require.NoError(t, l.End(c.change(begun, changed())))
				want := base.Pending
				if c.resolved {
					want = nil
				}
				require.Equal(t, want, snapshotFrom(t, l).Pending)
			}
		})
	}
}

// A resource without an object is as recorded.
func TestUpdatesOfComponentsAndProvidersDoNotStayPending(t *testing.T) {
	component, provider := box("g"), box("p")
	component.Custom, component.ID = false, ""
	provider.Type = "pulumi:providers:testpkg"
	base := snapshotOf(component)
	base.Pending = []Pending{{Type: Updating, Resource: component.Clone()}, {Type: Updating, Resource: provider}}
	require.Empty(t, snapshotFrom(t, NewLedger(base, LedgerOptions{})).Pending)
}

// The search for the object of a create uses its provider.
func TestPendingCreatesReferToRenamedProvidersByTheirNewNames(t *testing.T) {
	old, renamed := box("p"), box("q")
	old.Type, renamed.Type = "pulumi:providers:testpkg", "pulumi:providers:testpkg"
	old.URN, renamed.URN = urn.New("dev", "proj", "", old.Type, "p"), urn.New("dev", "proj", "", old.Type, "q")
	renamed.ID, renamed.Aliases = old.ID, []urn.URN{old.URN}
	creating := box("made")
	creating.ID, creating.Provider = "", urn.ProviderRef{URN: old.URN, ID: old.ID}.String()
	base := snapshotOf(old)
	base.Pending = []Pending{{Type: Creating, Resource: creating}}
	l := NewLedger(base, LedgerOptions{})
	require.NoError(t, l.End(Change{Remove: []*Resource{old}, Add: renamed}))
	pending := snapshotFrom(t, l).Pending
	require.Len(t, pending, 1)
	require.Equal(t, creating.URN, pending[0].Resource.URN)
	require.Equal(t, urn.ProviderRef{URN: renamed.URN, ID: old.ID}.String(), pending[0].Resource.Provider)
	require.NoError(t, l.End(Change{Begun: creating}), "it can be resolved")
	require.Empty(t, snapshotFrom(t, l).Pending)
}

func TestPendingUpdatesAreRenamedWithTheirResources(t *testing.T) {
	a, renamed := box("a"), box("b")
	renamed.ID, renamed.Aliases = a.ID, []urn.URN{a.URN}
	base := snapshotOf(a)
	updating := a.Clone()
	updating.ID = ""
	base.Pending = []Pending{{Type: Updating, Resource: updating}}
	l := NewLedger(base, LedgerOptions{})
	require.NoError(t, l.End(Change{Remove: []*Resource{a}, Add: renamed}))
	pending := snapshotFrom(t, l).Pending
	require.Len(t, pending, 1)
	require.Equal(t, renamed.URN, pending[0].Resource.URN)
}

func TestChangesToWhatIsNotThereAreRefusedAsAWhole(t *testing.T) {
	a, stranger := box("a"), box("b")
	l := ledgerOn(a)
	for name, c := range map[string]Change{
		"removal":       {Add: box("n"), Remove: []*Resource{stranger}},
		"twice":         {Remove: []*Resource{a, a}},
		"replacement":   {Add: box("n"), Replace: []Replacement{{stranger, box("b")}}},
		"begun":         {Begun: stranger, Remove: []*Resource{a}},
		"both":          {Remove: []*Resource{a}, Replace: []Replacement{{a, box("a")}}},
		"by nothing":    {Replace: []Replacement{{a, nil}}},
		"add it again":  {Add: a},
		"remove no one": {Remove: []*Resource{nil}},
	} {
		require.Error(t, l.End(c), name)
		require.Equal(t, []string{"a"}, namesOf(snapshotFrom(t, l).Resources), name)
	}
}

func TestAliasesAreResolvedInTheSnapshotOnly(t *testing.T) {
	root := &Resource{URN: testRoot, Type: urn.RootStackType}
	before := component("old", testRoot)
	child := &Resource{URN: before.URN.Child("testpkg:index:Box", "c"), Type: "testpkg:index:Box", Custom: true, ID: "1", Parent: before.URN}
	grandchild := &Resource{URN: child.URN.Child("testpkg:index:Box", "gc"), Type: "testpkg:index:Box", Custom: true, ID: "2", Parent: child.URN}
	user := box("user", func(r *Resource) {
		r.Parent, r.Dependencies = testRoot, []urn.URN{child.URN, testRoot}
		r.PropertyDependencies = map[string][]urn.URN{"k": {grandchild.URN}, "l": nil}
		r.DeletedWith, r.ReplaceWith, r.ViewOf = child.URN, []urn.URN{grandchild.URN}, before.URN
	})
	wrap := component("wrap", testRoot)
	after := &Resource{URN: wrap.URN.Child("shop:index:Group", "new"), Type: "shop:index:Group", Parent: wrap.URN, Aliases: []urn.URN{before.URN}}

	l := ledgerOn(root, before, child, grandchild, user)
	require.NoError(t, l.End(Change{Add: wrap}))
	require.NoError(t, l.End(Change{Add: after, Remove: []*Resource{before}}))
	s := snapshotFrom(t, l)
	byName := map[string]*Resource{}
	for _, r := range s.Resources {
		byName[r.URN.Name()] = r
		require.Nil(t, r.Aliases)
	}
	newChild := after.URN.Child("testpkg:index:Box", "c")
	newGrandchild := newChild.Child("testpkg:index:Box", "gc")
	require.Equal(t, newChild, byName["c"].URN)
	require.Equal(t, after.URN, byName["c"].Parent)
	require.Equal(t, newGrandchild, byName["gc"].URN)
	require.Equal(t, newChild, byName["gc"].Parent)
	got := byName["user"]
	require.Equal(t, []urn.URN{newChild, testRoot}, got.Dependencies)
	require.Equal(t, map[string][]urn.URN{"k": {newGrandchild}, "l": nil}, got.PropertyDependencies)
	require.Equal(t, newChild, got.DeletedWith)
	require.Equal(t, []urn.URN{newGrandchild}, got.ReplaceWith)
	require.Equal(t, after.URN, got.ViewOf)
	require.Equal(t, []string{"shop-dev", "wrap", "new", "c", "gc", "user"}, namesOf(s.Resources), "each in the place of its old URN")
	require.Equal(t, child.URN, user.Dependencies[0], "resources in memory are not changed")
	require.Equal(t, []urn.URN{before.URN}, after.Aliases)

	again := snapshotFrom(t, l)
	require.Equal(t, s.Resources, again.Resources)
	for i := range s.Resources {
		require.Same(t, s.Resources[i], again.Resources[i], "what does not change keeps its pointer")
	}
}

func TestAliasedProviderIsRenamedInReferences(t *testing.T) {
	p := provider("p", "1")
	user := box("user", func(r *Resource) { r.Provider = ProviderRefOf(p) })
	l := ledgerOn(p, user)
	renamed := provider("q", "1")
	renamed.Aliases = []urn.URN{p.URN}
	require.NoError(t, l.End(Change{Add: renamed, Remove: []*Resource{p}}))
	s := snapshotFrom(t, l)
	require.Equal(t, ProviderRefOf(provider("q", "1")), s.Resources[1].Provider)
}

func TestTwoResourcesWithOneAliasAreRefused(t *testing.T) {
	l := ledgerOn()
	alias := func(r *Resource) { r.Aliases = []urn.URN{boxURN("x")} }
	require.NoError(t, l.End(Change{Add: box("b", alias)}))
	require.NoError(t, l.End(Change{Add: box("a", alias)}))
	_, err := l.Snapshot()
	var conflict *AliasConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, AliasConflictError{boxURN("x"), boxURN("a"), boxURN("b")}, *conflict)
}

func TestSnippetReferencesAreRenamed(t *testing.T) {
	a := box("a")
	base := snapshotOf(a)
	base.Snippets = []json.RawMessage{
		[]byte(`{"uuid":"1","code":"<x>","references":{"it":"` + string(a.URN) + `"}}`), []byte(`{"name":"later","uuid":"2"}`),
	}
	l := NewLedger(base, LedgerOptions{})
	require.NoError(t, l.End(Change{Add: box("b", func(r *Resource) { r.Aliases = []urn.URN{a.URN} }), Remove: []*Resource{a}}))
	s := snapshotFrom(t, l)
	require.Equal(t, `{"uuid":"1","code":"<x>","references":{"it":"`+string(boxURN("b"))+`"}}`, string(s.Snippets[0]))
	require.Equal(t, string(base.Snippets[1]), string(s.Snippets[1]), "untouched")
}

func TestSnippetsAreDropped(t *testing.T) {
	base := snapshotOf(box("a"))
	base.Snippets = []json.RawMessage{[]byte(`{"uuid":"1"}`), []byte(`{"uuid":"2"}`)}
	l := NewLedger(base, LedgerOptions{})
	require.NoError(t, l.End(Change{DropSnippets: []string{"1", "3"}}))
	require.Equal(t, base.Snippets[1:], snapshotFrom(t, l).Snippets)
	require.Len(t, base.Snippets, 2, "the base stays")
	require.NoError(t, l.End(Change{DropSnippets: []string{"2"}}))
	require.Empty(t, snapshotFrom(t, l).Snippets)
}

func TestExtensionsAreKeptWhileReferredTo(t *testing.T) {
	refers := func(ref string) func(*Resource) { return func(r *Resource) { r.ExtensionRef = ref } }
	a, b := box("a", refers("r1")), box("b", refers("r2"))
	base := snapshotOf(a, b)
	base.Extensions = map[string]json.RawMessage{"r1": []byte(`1`), "r2": []byte(`2`), "r3": []byte(`3`)}
	l := NewLedger(base, LedgerOptions{})
	require.NoError(t, l.End(Change{Remove: []*Resource{b}}))
	d := box("d", refers("r1"))
	require.NoError(t, l.End(Change{Add: d, Extension: []byte(`"fresh"`)}))
	require.Equal(t, map[string]json.RawMessage{"r1": []byte(`"fresh"`)}, snapshotFrom(t, l).Extensions)
	require.NoError(t, l.End(Change{Add: box("c", refers("unheard of"))}))
	_, err := l.Snapshot()
	require.ErrorContains(t, err, "unheard of")
}

func TestRefreshDropsWhatDangles(t *testing.T) {
	root := &Resource{URN: testRoot, Type: urn.RootStackType}
	outer, inner := component("outer", testRoot), component("inner", "")
	inner.Parent = outer.URN
	a := box("a", func(r *Resource) { r.Parent = inner.URN })
	b := box("b", dependsOn("a"), func(r *Resource) {
		r.Parent, r.DeletedWith = a.URN, a.URN
		r.PropertyDependencies = map[string][]urn.URN{"k": {a.URN}, "none": {}, "nil": nil}
		r.ReplaceWith = []urn.URN{a.URN}
	})
	l := ledgerOn(root, outer, inner, a, b)
	require.NoError(t, l.End(Change{Remove: []*Resource{a, inner}, Refresh: true}))
	s := snapshotFrom(t, l)
	got := s.Resources[2]
	require.Empty(t, got.Parent, "the next update gives it a parent again")
	require.Equal(t, b.URN, got.URN, "the URN stays")
	require.Empty(t, got.Dependencies)
	require.Equal(t, map[string][]urn.URN{"k": {}, "none": {}, "nil": nil}, got.PropertyDependencies)
	require.Empty(t, got.DeletedWith)
	require.Empty(t, got.ReplaceWith)

	rebuilt := Rebuild([]*Resource{root, outer, inner, a, b}, map[*Resource]*Resource{a: nil, inner: nil})
	require.Equal(t, s.Resources, rebuilt)
}

func TestRebaseForgetsChanges(t *testing.T) {
	l := ledgerOn(box("a"))
	require.NoError(t, l.End(Change{Add: box("b")}))
	op := box("c")
	require.NoError(t, l.Begin(Pending{Type: Creating, Resource: op}))
	l.Rebase(snapshotOf(box("d")))
	s := snapshotFrom(t, l)
	require.Equal(t, []string{"d"}, namesOf(s.Resources))
	require.Equal(t, []Pending{{Type: Creating, Resource: op}}, s.Pending, "what has begun is still under way")
}

func TestMustWriteComparesWhatCounts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Resource)
		must   bool
	}{
		"nothing":              {func(*Resource) {}, false},
		"source position":      {func(r *Resource) { r.SourcePosition = "x" }, false},
		"init errors":          {func(r *Resource) { r.InitErrors = []string{"x"} }, false},
		"modified":             {func(r *Resource) { r.Modified = time.Unix(1, 0) }, false},
		"ignoreChanges":        {func(r *Resource) { r.IgnoreChanges = []string{"x"} }, false},
		"empty property lists": {func(r *Resource) { r.PropertyDependencies = map[string][]urn.URN{"k": {}} }, false},
		"order of dependencies": {func(r *Resource) {
			r.Dependencies = []urn.URN{boxURN("y"), boxURN("x"), boxURN("x")}
		}, false},
		"urn":                   {func(r *Resource) { r.URN = boxURN("q") }, true},
		"type":                  {func(r *Resource) { r.Type = "a:b:C" }, true},
		"custom":                {func(r *Resource) { r.Custom = false }, true},
		"timeouts":              {func(r *Resource) { r.CustomTimeouts = Timeouts{Read: 1}.Record() }, true},
		"retainOnDelete":        {func(r *Resource) { r.RetainOnDelete = true }, true},
		"provider":              {func(r *Resource) { r.Provider = "x" }, true},
		"parent":                {func(r *Resource) { r.Parent = testRoot }, true},
		"deletedWith":           {func(r *Resource) { r.DeletedWith = testRoot }, true},
		"replaceWith":           {func(r *Resource) { r.ReplaceWith = []urn.URN{testRoot} }, true},
		"protect":               {func(r *Resource) { r.Protect = true }, true},
		"inputs":                {func(r *Resource) { r.Inputs = property.Map{} }, true},
		"outputs":               {func(r *Resource) { r.Outputs = r.Inputs }, true},
		"dependencies":          {func(r *Resource) { r.Dependencies = nil }, true},
		"property dependencies": {func(r *Resource) { r.PropertyDependencies = map[string][]urn.URN{"k": {testRoot}} }, true},
		"hooks":                 {func(r *Resource) { r.ResourceHooks = map[string][]string{"BeforeCreate": {"h"}} }, true},
		"trigger":               {func(r *Resource) { r.ReplacementTrigger = property.String("x") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := box("a", dependsOn("x", "y")), box("a", dependsOn("x", "y"))
			c.change(b)
			require.Equal(t, c.must, MustWrite(a, b))
		})
	}
	require.True(t, MustWrite(nil, box("a")))
}

func TestMigrateGivesOldResourcesAProvider(t *testing.T) {
	p := provider("mine", "7")
	p.Inputs = property.NewMap(map[string]property.Value{"region": property.String("eu"), "__internal": property.Of(property.Map{})})
	bare := box("b")
	owned := box("c", func(r *Resource) { r.Provider = ProviderRefOf(p) })
	base := snapshotOf(p, box("a"), bare, owned)
	base.Manifest.Plugins = []ManifestPlugin{{Name: "testpkg", Type: "resource", Version: "1.2.3"}}
	inputs := func(pkg string) property.Map {
		require.Equal(t, "testpkg", pkg)
		return property.NewMap(map[string]property.Value{"key": property.String("v")})
	}
	out, changed := Migrate(base, inputs, func() string { return "new-id" })
	require.True(t, changed)
	require.NoError(t, Verify(out))
	require.Equal(t, []string{"default", "mine", "a", "b", "c"}, namesOf(out.Resources))
	made := out.Resources[0]
	require.Equal(t, "new-id", made.ID)
	require.Equal(t, "1.2.3", made.Inputs.At("version").AsString())
	require.Equal(t, "v", made.Outputs.At("key").AsString())
	require.Equal(t, ProviderRefOf(made), out.Resources[2].Provider)
	require.Equal(t, ProviderRefOf(made), out.Resources[3].Provider)
	require.Equal(t, []string{"region"}, out.Resources[1].Outputs.Names())
	require.Empty(t, bare.Provider)

	same, changed := Migrate(out, inputs, nil)
	require.False(t, changed)
	require.Same(t, out, same)
}

func TestUnchangedSecretsKeepTheirCiphertext(t *testing.T) {
	ctx := context.Background()
	provider := &SecretsProvider{Type: "b64"}
	n := 0
	encoder := NewEncoder(EncoderOptions{Crypter: provider.Identity(), Encrypter: renewing{&n}})
	secretOf := func(text string) *Resource {
		r := &Resource{URN: urn.New("s", "p", "", "t:m:T", "n"), Type: "t:m:T"}
		r.Inputs = property.NewMap(map[string]property.Value{"pw": property.Secret(property.String(text))})
		return r
	}
	write := func(base *Snapshot, c Change) []byte {
		l := NewLedger(base, LedgerOptions{SecretsProvider: provider})
		require.NoError(t, l.End(c))
		s, err := l.Snapshot()
		require.NoError(t, err)
		b, err := encoder.Checkpoint(ctx, "s", s)
		require.NoError(t, err)
		return b
	}
	first := secretOf("a")
	before := write(nil, Change{Add: first})
	base := &Snapshot{Resources: []*Resource{first}, SecretsProvider: provider}
	require.Contains(t, string(write(base, Change{Remove: []*Resource{first}, Add: secretOf("a")})), "sealed 1")
	require.Contains(t, string(write(base, Change{Replace: []Replacement{{first, secretOf("a")}}})), "sealed 1")
	require.Contains(t, string(before), "sealed 1")
	require.Contains(t, string(write(base, Change{Remove: []*Resource{first}, Add: secretOf("b")})), "sealed 2")
}

// renewing makes a different ciphertext each time.
type renewing struct{ n *int }

func (c renewing) Encrypt(context.Context, string) (string, error) {
	*c.n++
	return fmt.Sprintf("sealed %d", *c.n), nil
}
