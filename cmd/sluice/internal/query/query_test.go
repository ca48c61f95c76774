package query

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const providerURN = "urn:pulumi:dev::shop::pulumi:providers:aws::old"

// bucket is a state with one provider and one resource of it.
func bucket() *state.Snapshot {
	secret := property.MakeSecret(property.String("hidden"))
	object := func(m map[string]property.Value) property.Value { return property.Of(property.NewMap(m)) }
	return &state.Snapshot{Resources: []*state.Resource{
		{
			URN: providerURN, Type: "pulumi:providers:aws", Custom: true, ID: "p1",
			Inputs: property.NewMap(map[string]property.Value{"version": property.String("5.43.1")}),
		},
		{
			URN: "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs", Type: "aws:s3/bucket:Bucket", Custom: true, ID: "logs-1",
			Provider: providerURN + "::p1", Modified: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Dependencies: []urn.URN{"urn:a"},
			PropertyDependencies: map[string][]urn.URN{"acl": {"urn:a"}},
			Outputs: property.NewMap(map[string]property.Value{
				"acl": property.String("private"), "size": property.Number(3), "null": property.Value{}, "password": secret, "later": property.Computed(),
				"list": property.ArrayOf(property.String("a"), secret), "object": object(map[string]property.Value{"x": property.Number(1), "y": secret}),
				"file": property.TextAsset("text"), "plain": object(map[string]property.Value{"x": property.Number(1)}), "__internal": property.String("x"),
			}),
		},
	}}
}

// The outcomes of a question for the bucket.
const (
	matches = "matches"
	differs = "differs"
	hidden  = "hidden"
	faulty  = "faulty"
)

func outcome(t *testing.T, question string, showSecrets bool) string {
	t.Helper()
	q, err := Compile(question, nil)
	require.NoError(t, err)
	s := bucket()
	s.Resources = s.Resources[1:]
	a, err := q.Ask(context.Background(), Stack{"organization", "shop", "dev"}, s, showSecrets)
	require.NoError(t, err)
	switch {
	case len(a.Matches) == 1:
		return matches
	case a.Hidden == 1:
		return hidden
	case a.Faulty == 1:
		require.NotEmpty(t, a.Fault)
		return faulty
	}
	return differs
}

func TestOutcomesOfQuestions(t *testing.T) {
	for question, want := range map[string]string{
		`type == "aws:s3/bucket:Bucket" && name == "logs" && id == "logs-1" && stack == "dev" && project == "shop"`: matches,
		`type(name) == string && organization == "organization" && parent == "" && custom && !external && !protect`: matches,
		`outputs.acl == "private"`:                             matches,
		`outputs.size == 3 && outputs.size > 2.5`:              matches,
		`int(outputs.size) + 1 == 4`:                           matches,
		`outputs.size in [1, 3]`:                               matches,
		`outputs["null"] == null`:                              matches,
		`outputs.plain == {"x": 1}`:                            matches,
		`has(outputs.file.text)`:                               matches,
		`outputs.acl.upperAscii() == "PRIVATE"`:                matches,
		`outputs.?nothing.orValue("x") == "x"`:                 matches,
		`modified < timestamp("2026-04-01T00:00:00Z")`:         matches,
		`dependencies == ["urn:a"]`:                            matches,
		`"urn:a" in propertyDependencies.acl`:                  matches,
		`propertyDependencies.exists(p, p == "acl")`:           matches,
		`!has(outputs.nothing) && !has(outputs.__internal)`:    matches,
		`has(outputs.password)`:                                matches,
		`has(outputs.object.y) && size(outputs.list) == 2`:     matches,
		`outputs.password == "x" || name == "logs"`:            matches,
		`outputs.list.exists(e, e == "a")`:                     matches,
		`"a" in outputs.list && "y" in outputs.object`:         matches,
		`outputs.nothing == 1`:                                 differs,
		`outputs.nothing != 1`:                                 differs,
		`!(outputs.nothing == 1)`:                              differs,
		`outputs.list[7] == "x"`:                               differs,
		`created < timestamp("2026-04-01T00:00:00Z")`:          differs, // not recorded
		`outputs.later == "x"`:                                 differs,
		`outputs.acl == 1`:                                     differs,
		`outputs.acl > 1`:                                      faulty,
		`outputs.size.startsWith("x")`:                         faulty,
		`outputs.acl`:                                          faulty,
		`"x" in outputs.acl`:                                   faulty,
		`int(outputs.acl) == 1`:                                faulty,
		`outputs.password == "hidden"`:                         hidden,
		`outputs.password != "other"`:                          hidden,
		`!(outputs.password == "other")`:                       hidden,
		`outputs.password == outputs.password`:                 hidden,
		`outputs.password in ["hidden"]`:                       hidden,
		`!(outputs.password in [])`:                            hidden,
		`outputs.password.startsWith("h")`:                     hidden,
		`size(string(outputs.password)) > 3`:                   hidden,
		`outputs.list == ["a", "hidden"]`:                      hidden,
		`["a", "hidden"] != outputs.list`:                      hidden,
		`"hidden" in outputs.list`:                             hidden,
		`!("hidden" in outputs.list)`:                          hidden,
		`{"x": 1, "y": "hidden"} == outputs.object`:            hidden,
		`outputs.object in [{"x": 1, "y": "hidden"}]`:          hidden,
		`outputs != {"x": 1}`:                                  hidden,
		`outputs.list.all(e, e != "hidden")`:                   hidden,
		`outputs.list.filter(e, e == "hidden").size() == 1`:    hidden,
		`outputs.password == "hidden" ? true : false`:          hidden,
		`providerVersion == "" && providerPackage == "aws"`:    matches, // the provider is not in the state
		`outputs.object.map(k, outputs.object[k]).size() == 2`: hidden,
	} {
		if got := outcome(t, question, false); got != want {
			t.Errorf("%s: %s instead of %s", question, got, want)
		}
	}
	for question, want := range map[string]string{
		`outputs.password == "hidden" && outputs.list == ["a", "hidden"] && "hidden" in outputs.list`: matches,
		`outputs.password == "other"`: differs,
	} {
		require.Equal(t, want, outcome(t, question, true), question)
	}
}

func TestColumnsOfMatches(t *testing.T) {
	q, err := Compile(`providerVersion.startsWith("5.")`, SplitColumns(
		`name,outputs.acl , outputs.nothing,outputs.password,outputs.object, [size("a,b"), 1], {"a": true}["a"],outputs.?acl, modified, outputs.later, created, outputs.size + "x"`))
	require.NoError(t, err)
	a, err := q.Ask(context.Background(), Stack{}, bucket(), false)
	require.NoError(t, err)
	require.Len(t, a.Matches, 2)
	require.Equal(t, Provider{"aws", "5.43.1"}, a.Matches[0].Provider)
	require.Equal(t, Provider{"aws", "5.43.1"}, a.Matches[1].Provider)
	text, err := json.Marshal(a.Matches[1].Values)
	require.NoError(t, err)
	require.JSONEq(t, `["logs", "private", null, "[secret]", {"x": 1, "y": "[secret]"}, [3, 1], true, "private", "2026-03-01T00:00:00.000Z", "[unknown]", null, null]`, string(text))
	require.Equal(t, []string{"name", "outputs.acl"}, q.Columns()[:2])
}

func TestAStackWithoutResourcesHasNoMatch(t *testing.T) {
	q, err := Compile("true", nil)
	require.NoError(t, err)
	a, err := q.Ask(context.Background(), Stack{}, nil, false)
	require.NoError(t, err)
	require.Empty(t, a.Matches)
}

func TestAQuestionEndsWithItsContext(t *testing.T) {
	q, err := Compile("true", nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = q.Ask(ctx, Stack{}, bucket(), false)
	require.ErrorIs(t, err, context.Canceled)
}

func TestMistakesAreShownAtTheirPlace(t *testing.T) {
	for question, want := range map[string]string{
		`name == "é" && nam == "x"`: "the question: undeclared reference to 'nam' (did you mean 'name'?), at line 1, character 16\n" +
			"    name == \"é\" && nam == \"x\"\n                   ^",
		"name == \"a\" &&\n  name == 1": "the question: found no matching overload for '_==_' applied to '(string, int)', at line 2, character 8\n" +
			"      name == 1\n           ^",
		`has(name)`: "the question: has() takes a field, as in has(outputs.acl), at line 1, character 5\n    has(name)\n        ^",
		`""`:        "the question gives a value of type string, and must give true or false: compare it with something",
		" ":         "the question: there is no expression",
	} {
		_, err := Compile(question, nil)
		require.EqualError(t, err, want)
	}
}
