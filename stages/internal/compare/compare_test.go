package compare_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/urn"
)

type values = map[string]property.Value

func object(m values) property.Map { return property.NewMap(m) }

func TestIgnoreChangesPutsOldValuesWhereThePathsPoint(t *testing.T) {
	olds := object(values{
		"size": property.Number(1), "tags": property.Of(object(values{"owner": property.String("a"), "env": property.String("dev")})),
		"gone": property.Bool(true),
	})
	news := object(values{
		"size": property.Number(2), "tags": property.Of(object(values{"owner": property.String("b"), "env": property.String("prod")})),
		"added": property.Bool(true),
	})
	for _, c := range []struct {
		name  string
		paths []string
		want  property.Map
	}{
		{"no path", nil, news},
		{"a property", []string{"size"}, news.With("size", property.Number(1))},
		{"a nested property", []string{"tags.owner"}, news.With("tags", property.Of(object(values{"owner": property.String("a"), "env": property.String("prod")})))},
		{"what the program adds", []string{"added"}, news.Without("added")},
		{"what the program removes", []string{"gone"}, news.With("gone", property.Bool(true))},
		{"several", []string{"size", "added"}, news.With("size", property.Number(1)).Without("added")},
		{"everything", []string{"*"}, olds},
		{"what neither has", []string{"missing"}, news},
		{"what is not a path", []string{"tags["}, news},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, impossible := compare.IgnoreChanges(c.paths, olds, news)
			require.True(t, property.EqualMaps(c.want, got), "got %v", got)
			require.Empty(t, impossible)
		})
	}
}

func TestIgnoreChangesNamesThePathsThatItCannotReset(t *testing.T) {
	olds := object(values{"list": property.ArrayOf(property.Number(1)), "size": property.Number(1)})
	news := object(values{"list": property.ArrayOf(property.Number(1), property.Number(2)), "size": property.Number(2)})
	got, impossible := compare.IgnoreChanges([]string{"list[1]", "size"}, olds, news)
	require.Equal(t, []string{"list[1]"}, impossible)
	require.True(t, property.EqualMaps(news.With("size", property.Number(1)), got), "the other paths are reset all the same")
}

func TestIgnoreChangesResetsWhatItCanOfAPathThatItCannotReset(t *testing.T) {
	olds := object(values{"list": property.ArrayOf(property.Number(1))})
	news := object(values{"list": property.ArrayOf(property.Number(2), property.Number(3))})
	got, impossible := compare.IgnoreChanges([]string{"list[*]"}, olds, news)
	require.Equal(t, []string{"list[*]"}, impossible)
	require.True(t, property.EqualMaps(object(values{"list": property.ArrayOf(property.Number(1), property.Number(3))}), got), "got %v", got)
}

func TestReplaceOnChangesUpgradesWhatThePatternsContain(t *testing.T) {
	shared := map[string]providers.PropertyDiff{
		"tags.owner": {Kind: providers.DiffUpdate}, "size": {Kind: providers.DiffAdd}, "zone": {Kind: providers.DiffUpdateReplace},
	}
	d := providers.DiffResponse{Changes: providers.DiffSome, ChangedKeys: []string{"tags", "size"}, DetailedDiff: shared}
	upgraded, err := compare.ReplaceOnChanges(&d, []string{"tags.owner", "zone"}, false)
	require.NoError(t, err)
	require.Equal(t, []string{"tags.owner"}, upgraded, "zone replaces without it")
	require.Equal(t, providers.DiffUpdateReplace, d.DetailedDiff["tags.owner"].Kind)
	require.Equal(t, providers.DiffAdd, d.DetailedDiff["size"].Kind)
	require.True(t, d.Replaces())
	require.Equal(t, providers.DiffUpdate, shared["tags.owner"].Kind, "the provider's own answer must not change")
}

func TestReplaceOnChangesUpgradesChangedKeysOfProvidersWithoutDetails(t *testing.T) {
	keys := append(make([]string, 0, 4), "a")
	d := providers.DiffResponse{Changes: providers.DiffSome, ChangedKeys: []string{"b", "a", "c"}, ReplaceKeys: keys}
	upgraded, err := compare.ReplaceOnChanges(&d, []string{"a", "c"}, false)
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, upgraded)
	require.Equal(t, []string{"a", "c"}, d.ReplaceKeys)
	require.Equal(t, []string{"a", "", "", ""}, keys[:4], "the provider's own answer must not change")
}

func TestReplaceOnChangesWildcardContainsEveryProperty(t *testing.T) {
	d := providers.DiffResponse{Changes: providers.DiffSome, ChangedKeys: []string{"b"}}
	upgraded, err := compare.ReplaceOnChanges(&d, []string{"*"}, false)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, upgraded)
}

func TestReplaceOnChangesReplacesNothingThatDoesNotChange(t *testing.T) {
	d := providers.DiffResponse{Changes: providers.DiffNone, ChangedKeys: []string{"a"}}
	upgraded, err := compare.ReplaceOnChanges(&d, []string{"a"}, false)
	require.NoError(t, err)
	require.Empty(t, upgraded)
	require.Equal(t, providers.DiffResponse{Changes: providers.DiffNone, ChangedKeys: []string{"a"}}, d)
}

func TestReplaceOnChangesReplacesWhatIsNotHealthyIfAsked(t *testing.T) {
	for pattern, replaced := range map[string]bool{stages.InitErrorKey: true, "*": true, "size": false} {
		d := providers.DiffResponse{Changes: providers.DiffNone}
		upgraded, err := compare.ReplaceOnChanges(&d, []string{pattern}, true)
		require.NoError(t, err)
		require.Equal(t, replaced, d.Replaces(), pattern)
		require.Equal(t, replaced, d.Changes == providers.DiffSome, pattern)
		require.Equal(t, replaced, len(upgraded) == 1, pattern)
	}
}

func TestReplaceOnChangesRefusesWhatIsNotAPath(t *testing.T) {
	d := providers.DiffResponse{Changes: providers.DiffSome}
	_, err := compare.ReplaceOnChanges(&d, []string{"a["}, false)
	require.ErrorIs(t, err, property.ErrPath)
}

func TestTheDetailedDiffSaysMoreThanTheKeys(t *testing.T) {
	d := providers.DiffResponse{
		ReplaceKeys: []string{"tags", "size", "tags"}, ChangedKeys: []string{"tags", "size", "tags"},
		DetailedDiff: map[string]providers.PropertyDiff{"tags.b": {Kind: providers.DiffAddReplace}, "tags.a": {Kind: providers.DiffUpdate}},
	}
	require.Equal(t, []string{"tags.b"}, compare.ReplacingProperties(d))
	require.Equal(t, []string{"tags.a", "tags.b"}, compare.ChangedProperties(d))
	d.DetailedDiff = nil
	require.Equal(t, []string{"size", "tags"}, compare.ReplacingProperties(d))
	require.Equal(t, []string{"size", "tags"}, compare.ChangedProperties(d))
}

// A detailed diff without replacements does not override the replacements of the keys.
func TestReplaceKeysCountWhereTheDetailedDiffHasNone(t *testing.T) {
	d := providers.DiffResponse{
		ReplaceKeys: []string{"size"}, DetailedDiff: map[string]providers.PropertyDiff{"size": {Kind: providers.DiffUpdate}},
	}
	require.Equal(t, []string{"size"}, compare.ReplacingProperties(d))
}

func TestAChangeWithoutPropertiesIsTheProvidersWord(t *testing.T) {
	require.Equal(t, stages.Reason{Kind: stages.ReasonProviderSaysSo}, compare.InputsReason(nil))
	require.Equal(t, stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"a"}}, compare.InputsReason([]string{"a"}))
}

func TestShownValuesAreShortAndNeverSecret(t *testing.T) {
	nested := func(v property.Value) property.Value { return property.Of(object(values{"in": property.ArrayOf(v)})) }
	for _, c := range []struct {
		v    property.Value
		want string
	}{
		{property.Secret(property.String("hunter2")), "[secret]"},
		{nested(property.Secret(property.String("hunter2"))), "[secret]"},
		{property.Secret(property.Computed()), "[secret]"},
		{nested(property.Computed()), "[unknown]"},
		{property.Null, "<null>"},
		{property.String("text"), "text"},
		{property.Number(1.5), "1.5"},
		{property.Bool(false), "false"},
		{property.ArrayOf(property.Null, property.Null), "array of 2"},
		{nested(property.Null), "object of 1"},
		{property.TextAsset("x"), "…"},
		{property.String(strings.Repeat("a", 200)), strings.Repeat("a", 200)},
		{property.String(strings.Repeat("a", 201)), strings.Repeat("a", 200) + "…"},
	} {
		require.Equal(t, c.want, compare.ShownValue(c.v))
	}
}

func TestShownChangesNameThePlacesThatDiffer(t *testing.T) {
	of := func(m values) property.Value { return property.Of(object(m)) }
	one, two := property.Number(1), property.Number(2)
	require.Equal(t, "size: 1 => 2", compare.ShownChange("size", one, two))
	require.Equal(t, "tags: <null> => object of 1", compare.ShownChange("tags", property.Null, of(values{"a": one})))
	require.Equal(t, "tags: object of 2 => [secret] (tags.a: 1 => 2; tags.c: <null> => [secret])",
		compare.ShownChange("tags", of(values{"a": one, "b": one}), of(values{"a": two, "b": one, "c": property.Secret(one)}))) // never a secret
	old, now := values{}, values{}
	for i := range 6 {
		old[fmt.Sprint(i)], now[fmt.Sprint(i)] = one, two
	}
	require.Equal(t, `tags: object of 6 => object of 6 (tags.0: 1 => 2; tags.1: 1 => 2; tags.2: 1 => 2; tags.3: 1 => 2; tags.4: 1 => 2; …)`,
		compare.ShownChange("tags", of(old), of(now)))
	require.Equal(t, "tags: [unknown] => [unknown]", compare.ShownChange("tags", property.Computed(), property.Computed()))
}

func TestShownValuesAreNotCutInsideACharacter(t *testing.T) {
	got := compare.ShownValue(property.String(strings.Repeat("a", 199) + "éa"))
	require.True(t, utf8.ValidString(got), "%q", got)
	require.Equal(t, strings.Repeat("a", 199)+"…", got)
}

func TestCheckFailuresNameThePropertyAndItsValue(t *testing.T) {
	u := urn.New("dev", "p", "", "x:index:T", "web")
	inputs := object(values{"size": property.Number(3), "password": property.Secret(property.String("hunter2"))})
	for _, c := range []struct {
		failure providers.CheckFailure
		code    int
		text    string
	}{
		{providers.CheckFailure{Reason: "no"}, stages.CodeInvalidResource, "x:index:T resource 'web' has a problem: no"},
		{
			providers.CheckFailure{Property: "size", Reason: "odd"}, stages.CodeInvalidProperty,
			"x:index:T resource 'web': property size value {3} has a problem: odd",
		},
		{
			providers.CheckFailure{Property: "password", Reason: "weak"}, stages.CodeInvalidProperty,
			"x:index:T resource 'web': property password value {[secret]} has a problem: weak",
		},
		{
			providers.CheckFailure{Property: "zone", Reason: "missing"}, stages.CodeInvalidProperty,
			"x:index:T resource 'web': property zone value {<null>} has a problem: missing",
		},
	} {
		code, text := compare.CheckFailure(u, inputs, c.failure)
		require.Equal(t, c.code, code)
		require.Equal(t, c.text, text)
	}
}
