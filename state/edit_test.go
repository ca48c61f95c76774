package state

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

func reference(u urn.URN) property.Value {
	return property.Of(property.Reference{URN: u, ID: property.String("i")})
}

func TestFindingWhatAUserMeans(t *testing.T) {
	a, b := box("a"), box("b")
	gone := box("a", old)
	inGroup := &Resource{URN: urn.New("dev", "shop", "shop:index:Group", "testpkg:index:Box", "b"), Type: "testpkg:index:Box", Parent: testRoot}
	s := snapshotOf(a, gone, b, inGroup, box("network"), box("default"), box("only", old))

	found, err := Find(s, string(a.URN))
	require.NoError(t, err)
	require.Equal(t, []*Resource{a, gone}, found, "all copies")
	found, err = Find(s, "network")
	require.NoError(t, err)
	require.Equal(t, boxURN("network"), found[0].URN, "a bare name")

	for text, message := range map[string]string{
		"b":                                     "2 resources are called b",
		"databse":                               "the state has no resource databse",
		"netwrk":                                "did you mean\n  " + string(boxURN("network")),
		string(boxURN("netwrok")):               "did you mean\n  " + string(boxURN("network")),
		"urn:pulumi:dev::shop::index:Box::zzzz": "the state has no resource",
		"urn:pulumi:dev::shop::a$testpkg:x::zz": "the state has no resource",
		"urn:rubbish":                           "urn:rubbish",
		"":                                      "the state has no resource",
	} {
		_, err := Find(s, text)
		require.ErrorContains(t, err, message, text)
		if text == "databse" {
			require.Equal(t, []advice.Advice{advice.On(advice.ListResources)}, advice.Of(err))
		}
	}
	_, err = Find(s, "urn:pulumi:dev::shop::a:b:Group$testpkg:x:y::zz")
	require.NotContains(t, err.Error(), "single quotes", "the shell has left the $ alone")
	_, err = Find(nil, "x")
	require.Error(t, err)

	_, err = FindOne(s, string(a.URN))
	require.ErrorContains(t, err, "2 copies of "+string(a.URN))
	require.ErrorContains(t, err, "awaits deletion")
	live, err := FindLive(s, string(a.URN))
	require.NoError(t, err)
	require.Same(t, a, live)
	_, err = FindLive(s, "only")
	require.ErrorContains(t, err, "not live")
	require.Len(t, Live(s), 5)
	require.Equal(t, []urn.URN{boxURN("network")}, Near(s.Resources, "network"), "what is named exactly is meant")
}

func TestNearNamesAreSimilar(t *testing.T) {
	for text, want := range map[string][]urn.URN{
		"u": nil, "xy": nil, "oen": {boxURN("one")}, "webb": {boxURN("web")}, "databsae": {boxURN("database")}, "WEB": {boxURN("web")}, "base": {boxURN("database")},
	} {
		require.Equal(t, want, Near([]*Resource{box("b"), box("one"), box("web"), box("database")}, text), text)
	}
}

func TestAnUnknownURNIsExplained(t *testing.T) {
	inside := &Resource{URN: urn.New("dev", "proj", "my:index:Group", "my:index:Box", "inside"), Type: "my:index:Box", Custom: true}
	const quotes = "single quotes"
	for name, c := range map[string]struct {
		text            string
		want, unwritten []string
	}{
		"another name":        {text: string(boxURN("elsewhere")), unwritten: []string{"did you mean", quotes}},
		"a similar name":      {text: string(boxURN("onne")), want: []string{"did you mean\n  " + string(boxURN("one"))}, unwritten: []string{quotes}},
		"another type":        {text: "urn:pulumi:dev::proj::aws:s3/bucket:Bucket::one", want: []string{string(boxURN("one"))}, unwritten: []string{quotes}},
		"replaced by a shell": {text: "urn:pulumi:dev::proj::my:index:Group:index:Box::inside", want: []string{string(inside.URN), quotes}},
		"quoted":              {text: "urn:pulumi:dev::proj::my:index:Group$my:index:Box::beside", unwritten: []string{quotes}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Find(snapshotOf(box("one"), inside), c.text)
			for _, text := range c.want {
				require.ErrorContains(t, err, text)
			}
			for _, text := range c.unwritten {
				require.NotContains(t, err.Error(), text)
			}
		})
	}
}

func TestDeletingFromAState(t *testing.T) {
	prov := provider("p", "1")
	using := func(r *Resource) { r.Provider = ProviderRefOf(prov) }
	group := component("group", testRoot)
	root := &Resource{URN: testRoot, Type: urn.RootStackType}
	child := box("child", func(r *Resource) { r.Parent = group.URN })
	view := box("view", func(r *Resource) { r.ViewOf = boxURN("owner") })
	protect := func(r *Resource) { r.Protect = true }

	for name, c := range map[string]struct {
		resources []*Resource
		targets   []int
		options   DeleteOptions
		removed   []string
		fails     string
		advice    []advice.Advice
	}{
		"a leaf": {resources: []*Resource{box("a"), box("b", dependsOn("a"))}, targets: []int{1}, removed: []string{"b"}},
		"a dependency": {resources: []*Resource{box("a"), box("b", dependsOn("a"))}, targets: []int{0},
			fails: string(boxURN("b")) + "\n    depends on " + string(boxURN("a"))},
		"a dependency with its dependents": {resources: []*Resource{box("a"), box("b", dependsOn("a")), box("c", dependsOn("b")), box("d")},
			targets: []int{0}, options: DeleteOptions{Dependents: true}, removed: []string{"c", "b", "a"}},
		"both at once": {resources: []*Resource{box("a"), box("b", dependsOn("a"))}, targets: []int{0, 1}, removed: []string{"b", "a"}},
		"a parent":     {resources: []*Resource{root, group, child}, targets: []int{1}, fails: "depends on " + string(group.URN)},
		"a provider":   {resources: []*Resource{prov, box("a", using)}, targets: []int{0}, fails: "depends on ", advice: []advice.Advice{advice.On(advice.DeleteDependents)}},
		"an owner of views": {resources: []*Resource{box("owner"), view}, targets: []int{0}, options: DeleteOptions{Dependents: true},
			removed: []string{"view", "owner"}},
		"protected": {resources: []*Resource{box("a", protect)}, targets: []int{0}, fails: string(boxURN("a")),
			advice: []advice.Advice{advice.On(advice.DeleteProtected, boxURN("a"))}},
		"protected, by force": {resources: []*Resource{box("a", protect)}, targets: []int{0}, options: DeleteOptions{Protected: true}, removed: []string{"a"}},
		"protected dependents": {resources: []*Resource{box("a"), box("b", dependsOn("a"), protect)}, targets: []int{0},
			options: DeleteOptions{Dependents: true}, fails: string(boxURN("b"))},
		"an old copy": {resources: []*Resource{box("a"), box("b", dependsOn("a")), box("a", old)}, targets: []int{2}, removed: []string{"a(old)"}},
		"the live copy": {resources: []*Resource{box("a", old), box("a"), box("b", dependsOn("a"))}, targets: []int{1},
			fails: "depends on " + string(boxURN("a"))},
		"the copy that the order rests on": {resources: []*Resource{box("a", old), box("b", dependsOn("a")), box("a")}, targets: []int{0},
			removed: []string{"a(old)"}},
		"the copy without which there is no order": {
			resources: []*Resource{box("a", old), box("b", dependsOn("a")), box("a", dependsOn("b"))}, targets: []int{0}, fails: "in a circle"},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshotOf(c.resources...)
			require.NoError(t, Verify(s))
			before := namesOf(s.Resources)
			var targets []*Resource
			for _, i := range c.targets {
				targets = append(targets, s.Resources[i])
			}
			out, removed, err := Delete(s, targets, c.options)
			require.Equal(t, before, namesOf(s.Resources), "the argument is not changed")
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				if c.advice != nil {
					require.Equal(t, c.advice, advice.Of(err))
				}
				require.Nil(t, out)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.removed, namesOf(removed))
			require.NoError(t, Verify(out))
			require.Len(t, out.Resources, len(s.Resources)-len(removed))
		})
	}
}

func TestMarkingResources(t *testing.T) {
	a, gone := box("a"), box("a", old)
	s := snapshotOf(a, gone)
	out, changed := SetTaint(s, Live(s), true)
	require.Len(t, changed, 1)
	require.True(t, out.Resources[0].Taint)
	require.False(t, out.Resources[1].Taint, "old copies are left alone")
	require.False(t, a.Taint, "the argument is not changed")
	require.Equal(t, []Feature{FeatureTaint}, Features(out))

	again, changed := SetTaint(out, Live(out), true)
	require.Empty(t, changed)
	require.Same(t, out, again, "nothing has changed")
	back, _ := SetTaint(out, Live(out), false)
	require.Empty(t, Features(back), "the file has version 3 again")
	out, changed = SetProtect(s, Live(s), true)
	require.Len(t, changed, 1)
	require.True(t, out.Resources[0].Protect)
}

func TestRenamingFollowsEveryReference(t *testing.T) {
	prov := provider("p", "1")
	group := component("group", "")
	child := &Resource{URN: group.URN.Child("testpkg:index:Box", "child"), Type: "testpkg:index:Box", Custom: true, ID: "c",
		Parent: group.URN, Provider: ProviderRefOf(prov), Inputs: property.NewMap(map[string]property.Value{"g": reference(group.URN)})}
	user := box("user", func(r *Resource) {
		r.Dependencies, r.DeletedWith, r.ReplaceWith = []urn.URN{group.URN}, group.URN, []urn.URN{group.URN}
		r.PropertyDependencies = map[string][]urn.URN{"x": {group.URN}}
		r.ViewOf = group.URN
	})
	s := snapshotOf(prov, group, child, user)
	s.Pending = []Pending{{Type: Updating, Resource: child}}
	s.Snippets = nil

	out, err := Rename(s, group, "gang::of $four")
	require.NoError(t, err)
	require.NoError(t, Verify(out))
	now := group.URN.Renamed("gang::of $four")
	require.Equal(t, now, out.Resources[1].URN)
	require.Equal(t, child.URN, out.Resources[2].URN, "names of parents are not part of a URN")
	require.Equal(t, now, out.Resources[2].Parent)
	require.Equal(t, now, out.Resources[2].Inputs.At("g").AsReference().URN)
	require.Equal(t, now, out.Pending[0].Resource.Parent)
	u := out.Resources[3]
	require.Equal(t, []urn.URN{now}, u.Dependencies)
	require.Equal(t, []urn.URN{now}, u.ReplaceWith, "not twice")
	require.Equal(t, []urn.URN{now}, u.PropertyDependencies["x"])
	require.Equal(t, now, u.DeletedWith)
	require.Equal(t, now, u.ViewOf)
	require.Equal(t, group.URN, user.DeletedWith, "the argument is not changed")

	out, err = Rename(s, prov, "q")
	require.NoError(t, err)
	require.NoError(t, Verify(out))
	require.Equal(t, string(prov.URN.Renamed("q"))+"::1", out.Resources[2].Provider)

	same, err := Rename(s, prov, "p")
	require.NoError(t, err)
	require.Same(t, s, same)
	_, err = Rename(s, user, string(user.URN.Renamed("d")))
	require.ErrorContains(t, err, `such as "d", and not a URN`)
	_, err = Rename(s, user, "")
	require.ErrorContains(t, err, "empty")
	two := snapshotOf(box("a"), box("b"), box("b", old), &Resource{URN: testRoot, Type: urn.RootStackType})
	_, err = Rename(two, two.Resources[0], "b")
	require.ErrorContains(t, err, "another resource "+string(boxURN("b")))
	_, err = Rename(two, two.Resources[1], "c")
	require.ErrorContains(t, err, "2 copies")
	_, err = Rename(two, two.Resources[3], "c")
	require.ErrorContains(t, err, "cannot be renamed")
}

func TestRepairsAreReported(t *testing.T) {
	group := component("group", "urn:pulumi:dev::shop::shop:index:Gone::gone")
	child := &Resource{URN: group.URN.Child("testpkg:index:Box", "child"), Type: "testpkg:index:Box", Custom: true, Parent: group.URN}
	s := snapshotOf(box("b", dependsOn("a", "nowhere")), box("a"), box("c"), group, child)
	s.Manifest.Magic = "rubbish"
	out, done, err := RepairAll(s)
	require.NoError(t, err)
	require.NoError(t, Verify(out))
	require.True(t, done.Magic)
	require.Equal(t, []urn.URN{boxURN("a")}, done.Ordered, "it comes before its dependent now")
	require.Equal(t, []DroppedReference{
		{Resource: boxURN("b"), Target: boxURN("nowhere"), Relation: "depends on"},
		{Resource: group.URN, Target: group.Parent, Relation: "is a child of"},
	}, done.Dropped)
	require.Len(t, done.Renamed, 2, "the child of a renamed parent follows")
	require.Equal(t, out.Resources[4].URN, done.Renamed[1].To)

	again, done, err := RepairAll(out)
	require.NoError(t, err)
	require.Nil(t, done)
	require.Same(t, out, again)

	_, _, err = RepairAll(snapshotOf(box("a"), box("a")))
	require.ErrorContains(t, err, "duplicate resource")
	_, _, err = RepairAll(snapshotOf(box("a", dependsOn("b")), box("b", dependsOn("a"))))
	require.ErrorContains(t, err, "in a circle")
	_, _, err = RepairAll(snapshotOf(box("a", func(r *Resource) { r.URN = "rubbish" })))
	require.ErrorContains(t, err, "rubbish")
}

func TestEditedTexts(t *testing.T) {
	ctx := context.Background()
	before := snapshotOf(box("a"), box("b", dependsOn("a")))
	before.Pending = []Pending{{Type: Creating, Resource: box("p")}}
	text, err := EditText(ctx, before)
	require.NoError(t, err)
	for name, c := range map[string]struct{ old, now, fails string }{
		"not JSON":            {"[", "{", "line "},
		"not an object":       {string(text), "[]", "not a JSON object"},
		"an unknown member":   {`"custom": true,`, `"custom": true, "protct": true,`, "resources[0].protct means nothing"},
		"a missing resource":  {`"id": "id-a"`, `"id": "id-a", "dependencies": ["urn:pulumi:dev::shop::a:b:C::x"]`, "is missing"},
		"another stack":       {`urn:pulumi:dev::`, `urn:pulumi:prod::`, `of the stack "prod", not of "dev"`},
		"no URN":              {string(boxURN("a")) + `",`, `rubbish",`, "rubbish"},
		"a wrong type":        {`"custom": true`, `"custom": 7`, "resources[0]"},
		"a secrets provider":  {`"metadata"`, `"secrets_providers": {"type": "b64"}, "metadata"`, "secrets_providers has changed"},
		"only spaces":         {`{`, `{   `, ""},
		"something that is 0": {`"custom": true,`, `"custom": true, "protect": false,`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			edited := replaceOnce(string(text), c.old, c.now)
			require.NotEqual(t, string(text), edited)
			out, _, err := ParseEdit(ctx, before, "dev", []byte(edited))
			require.Nil(t, out)
			if c.fails == "" {
				require.NoError(t, err, "nothing has changed")
			} else {
				require.ErrorContains(t, err, c.fails)
			}
		})
	}
	out, shown, err := ParseEdit(ctx, before, "dev", []byte(replaceOnce(string(text), `"custom": true,`, `"custom": true, "protect": true,`)))
	require.NoError(t, err)
	require.True(t, out.Resources[0].Protect)
	require.Contains(t, string(shown), `"protect": true`)

	secret := `{"` + property.SignatureKey + `": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "\"hush\""}`
	out, shown, err = ParseEdit(ctx, before, "dev", []byte(replaceOnce(string(text), `"size": 3`, `"size": `+secret)))
	require.NoError(t, err)
	require.Equal(t, "hush", out.Resources[0].Inputs.At("size").AsSecret().AsString())
	require.NotContains(t, string(shown), "hush")
	_, err = EditText(ctx, out)
	require.ErrorContains(t, err, "not encrypted yet", "looking at the text has left nothing behind")
}

func replaceOnce(s, old, now string) string {
	before, after, found := strings.Cut(s, old)
	if !found {
		return s
	}
	return before + now + after
}
