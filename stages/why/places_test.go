package why_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// changesOf returns the changes of a resource whose input "p" changes, as "place: old → new".
func changesOf(t *testing.T, was, is property.Value, detailed map[string]providers.PropertyDiff, names ...string) []string {
	t.Helper()
	u := urn.New("dev", "shop", "", "t:m:T", "a")
	of := func(v property.Value) *state.Resource {
		return &state.Resource{URN: u, Type: u.Type(), Custom: true, Inputs: property.NewMap(map[string]property.Value{"p": v})}
	}
	s := stages.StepInfo{
		Op: stages.OpUpdate, URN: u, Type: u.Type(), Old: of(was), New: of(is), DetailedDiff: detailed,
		Reason: stages.Reason{Kind: stages.ReasonInputs, Properties: names, By: stages.ByDiff},
	}
	log := why.New(why.About{Preview: true}, []stages.Decided{{StepInfo: &s, Wanted: s.New}}, why.Known{})
	require.Len(t, log.Decisions, 1)
	var out []string
	for _, c := range log.Decisions[0].Properties {
		text := c.Place() + ": " + string(c.Old) + " → " + string(c.New)
		if c.ForcesReplacement() {
			text += " (forces replacement)"
		}
		out = append(out, text)
	}
	return out
}

func TestItemsOfArraysAreExplainedByWhatTheyAre(t *testing.T) {
	rule := func(name string, port float64) any { return map[string]any{"name": name, "port": port} }
	was := valueOf(t, []any{rule("a", 1), rule("b", 2), rule("c", 3)})
	is := valueOf(t, []any{rule("new", 0), rule("a", 1), rule("b", 20), rule("c", 3)})
	require.Equal(t, []string{`p[0]:  → {"name":"new","port":0}`, `p[2].port: 2 → 20`}, changesOf(t, was, is, nil, "p"))
	require.Equal(t, []string{`p[0]:  → {"name":"new","port":0} (forces replacement)`, `p[2].port: 2 → 20 (forces replacement)`}, changesOf(t, was, is,
		map[string]providers.PropertyDiff{"p[0].name": {Kind: providers.DiffUpdate}, "p[1].port": {Kind: providers.DiffUpdateReplace}, "p[3]": {Kind: providers.DiffAdd}},
		"p[0].name", "p[1].port", "p[3]"), "a provider names items by their index")
}

func TestAnItemThatIsGoneHasNoNewValue(t *testing.T) {
	rule := func(name string, port float64) any { return map[string]any{"name": name, "port": port} }
	was := valueOf(t, []any{rule("new", 0), rule("a", 1), rule("b", 2)})
	is := valueOf(t, []any{rule("a", 1), rule("b", 20)})
	require.Equal(t, []string{`p[0]: {"name":"new","port":0} → `, `p[1].port: 2 → 20`}, changesOf(t, was, is, nil, "p"))
}

func TestDocumentsInTextsAreExplainedByValue(t *testing.T) {
	was := property.String(`{"Statement":[{"Effect":"Allow","Action":"s3:Get"}],"Version":"1"}`)
	is := property.String(`{"Version": "1", "Statement": [{"Action": "s3:Get", "Effect": "Deny"}]}`)
	require.Equal(t, []string{`p (JSON) Statement[0].Effect: "Allow" → "Deny"`}, changesOf(t, was, is, nil, "p"))
	require.Equal(t, []string{`p (YAML) replicas: 1 → 2`}, changesOf(t, property.String("kind: A\nreplicas: 1\n"), property.String("kind: A\nreplicas: 2\n"), nil, "p"))
	require.Equal(t, []string{`p: "{\"a\":1}" → "{ \"a\": 1 }"`}, changesOf(t, property.String(`{"a":1}`), property.String(`{ "a": 1 }`), nil, "p"), "only the form differs")
}

func TestASecretIsOnePlaceOfAnExplanation(t *testing.T) {
	secret := func(text string) property.Value {
		return property.ArrayOf(property.Secret(property.String(`{"password":"`+text+`"}`)), property.String("x"))
	}
	require.Equal(t, []string{`p[0]: "[secret]" → "[secret]"`}, changesOf(t, secret("hunter1"), secret("hunter2"), nil, "p"))
	require.Equal(t, []string{`p[0]: "[secret]" → "[secret]"`},
		changesOf(t, secret("hunter1"), property.ArrayOf(property.String(`{"password":"hunter1"}`), property.String("x")), nil, "p"), "that is no longer marked")
}
