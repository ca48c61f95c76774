package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/testing/fuzzing"
	"github.com/sluice-iac/sluice/urn"
)

// sealing stands in for encryption with a key of that name.
type sealing string

func (s sealing) Encrypt(_ context.Context, text string) (string, error) {
	return string(s) + rotate(text), nil
}

func (s sealing) Decrypt(_ context.Context, text string) (string, error) {
	text, ok := strings.CutPrefix(text, string(s))
	if !ok {
		return "", errors.New("wrong key")
	}
	return rotate(text), nil
}

// fullPlan has every member that a plan can have.
func fullPlan() *Plan {
	yes := true
	object := func(kv ...any) property.Map {
		m := map[string]property.Value{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(string)] = kv[i+1].(property.Value)
		}
		return property.NewMap(m)
	}
	outputs, none := object("arn", property.Computed(), "<b>", property.String("a & b")), property.Map{}
	return &Plan{
		Manifest: Manifest{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Magic: Magic("t"), Version: "t"},
		Config: map[string]json.RawMessage{
			"shop:name": json.RawMessage(`"<x> & y"`), "shop:password": json.RawMessage(`{"secure":"v1:abc"}`),
			"shop:list": json.RawMessage(`["a",{"b":"c"}]`),
		},
		Resources: map[urn.URN]*PlannedResource{
			boxURN("full"): {
				Goal: &PlannedGoal{
					Type: "testpkg:index:Box", Name: "full", Custom: true,
					Inputs: PlannedDiff{
						Adds:    object("unknown", property.Computed(), "password", property.Secret(property.String("s3cret")), "n", property.Number(1.5)),
						Updates: object("list", property.ArrayOf(property.Computed(), property.Null)), Deletes: []string{"a", "b"},
					},
					Outputs: PlannedDiff{Adds: object("x", property.Bool(true))},
					Parent:  testRoot, Protect: true, Dependencies: []urn.URN{boxURN("a"), boxURN("b")},
					Provider:             "urn:pulumi:dev::shop::pulumi:providers:testpkg::default::" + urn.UnknownID,
					PropertyDependencies: map[string][]urn.URN{"list": {boxURN("a")}, "n": {}},
					DeleteBeforeReplace:  &yes, IgnoreChanges: []string{"x.y", `z["<"]`}, AdditionalSecretOutputs: []string{"arn"},
					Aliases:  []urn.Alias{{URN: boxURN("before")}, {Name: "n", Type: "t:t:T", Project: "p", Stack: "s", Parent: testRoot, NoParent: true}},
					ImportID: "id", CustomTimeouts: Timeouts{Create: 60, Read: 0.5},
				},
				Ops: []string{"create-replacement", "replace", "delete-replaced"}, Outputs: &outputs, Seed: []byte{0, 1, 250, 251},
			},
			boxURN("gone"): {Ops: []string{"delete"}},
			testRoot:       {Goal: &PlannedGoal{Type: urn.RootStackType, Name: "shop-dev"}, Ops: []string{"same"}, Outputs: &none, Seed: []byte{1}},
		},
	}
}

func TestPlanIsWrittenAsTheReferenceWritesIt(t *testing.T) {
	text, err := EncodePlan(t.Context(), fullPlan(), EncoderOptions{Encrypter: sealing("key:")})
	require.NoError(t, err)
	const golden = "testdata/plan.json"
	if *update {
		require.NoError(t, os.WriteFile(golden, text, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(text))
	require.NotContains(t, string(text), "s3cret", "secrets are encrypted")

	var peer apitype.DeploymentPlanV1
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&peer))
	var again bytes.Buffer
	e := json.NewEncoder(&again)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	require.NoError(t, e.Encode(peer))
	require.Equal(t, withoutConfig(t, again.Bytes()), withoutConfig(t, text))
}

// Uncertain is the only member that Pulumi does not have. Pulumi ignores it.
func TestPlanSaysWhatIsUncertain(t *testing.T) {
	plan := &Plan{Resources: map[urn.URN]*PlannedResource{
		boxURN("a"): {Ops: []string{"delete-replaced"}, Uncertain: true}, boxURN("b"): {Ops: []string{"delete"}},
	}}
	text, err := EncodePlan(t.Context(), plan, EncoderOptions{})
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), `"uncertain": true`))
	require.NotContains(t, string(text), "false")
	read, err := DecodePlan(t.Context(), text, PlanDecodeOptions{Name: "plan.json"})
	require.NoError(t, err)
	require.True(t, read.Resources[boxURN("a")].Uncertain)
	require.False(t, read.Resources[boxURN("b")].Uncertain)

	var peer apitype.DeploymentPlanV1
	require.NoError(t, json.Unmarshal(text, &peer))
	require.Len(t, peer.ResourcePlans, 2)
}

// withoutConfig cuts the configuration out: Pulumi's type for it escapes other characters than this one.
func withoutConfig(t *testing.T, text []byte) string {
	t.Helper()
	before, rest, ok := strings.Cut(string(text), "    \"config\": {\n")
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, "\n    },\n")
	require.True(t, ok)
	return before + after
}

func TestPlanSurvivesItsFile(t *testing.T) {
	for name, o := range map[string]EncoderOptions{
		"encrypted": {Encrypter: sealing("key:")}, "plain": {Plaintext: true}, "known ciphertexts": {Encrypter: sealing("key:"), Crypter: "key"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := EncodePlan(t.Context(), fullPlan(), o)
			require.NoError(t, err)
			read, err := DecodePlan(t.Context(), text, PlanDecodeOptions{Name: "plan.json", Decrypter: sealing("key:"), Crypter: o.Crypter})
			require.NoError(t, err)
			again, err := EncodePlan(t.Context(), read, o)
			require.NoError(t, err)
			require.Equal(t, string(text), string(again))
			full := read.Resources[boxURN("full")]
			require.Equal(t, "s3cret", full.Goal.Inputs.Adds.At("password").AsSecret().AsString())
			require.True(t, full.Goal.Inputs.Adds.At("unknown").IsUnknown())
			require.Equal(t, fullPlan().Resources[boxURN("full")].Goal.Aliases, full.Goal.Aliases)
			require.Nil(t, read.Resources[boxURN("gone")].Goal)
			require.Nil(t, read.Resources[boxURN("gone")].Outputs)
		})
	}
}

// The text is Pulumi's plan for a preview with one changed resource.
func TestPlanOfTheReferenceIsRead(t *testing.T) {
	p, err := DecodePlan(t.Context(), []byte(`{
    "manifest": {"time": "2026-03-04T05:06:07.891011+01:00", "magic": "0f", "version": "v3.260.0"},
    "config": {"shop:size": "3", "shop:token": {"secure": "v1:x:y"}},
    "resourcePlans": {
        "urn:pulumi:dev::shop::testpkg:index:Box::a": {
            "goal": {
                "type": "testpkg:index:Box", "name": "a", "custom": true,
                "inputDiff": {"updates": {"size": 3, "of": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}, "deletes": ["old"]},
                "outputDiff": {}, "protect": false, "dependencies": ["urn:pulumi:dev::shop::testpkg:index:Box::b"],
                "provider": "urn:pulumi:dev::shop::pulumi:providers:testpkg::default::p1",
                "propertyDependencies": {"of": ["urn:pulumi:dev::shop::testpkg:index:Box::b"], "size": null},
                "aliases": ["urn:pulumi:dev::shop::testpkg:index:Box::c"],
                "structuredAliases": [{"URN": "", "Name": "d", "Type": "", "Project": "", "Stack": "", "Parent": "", "NoParent": false}],
                "customTimeouts": {"create": 300}, "somethingNew": 1
            },
            "steps": ["update"], "state": {"size": 3}, "seed": "AAEC"
        },
        "urn:pulumi:dev::shop::testpkg:index:Box::e": {"steps": ["delete"], "state": null}
    }
}`), PlanDecodeOptions{Name: "plan.json"})
	require.NoError(t, err)
	require.Equal(t, "v3.260.0", p.Manifest.Version)
	require.JSONEq(t, `{"secure": "v1:x:y"}`, string(p.Config["shop:token"]))
	a := p.Resources[boxURN("a")]
	require.Equal(t, []string{"update"}, a.Ops)
	require.Equal(t, []byte{0, 1, 2}, a.Seed)
	require.True(t, a.Goal.Inputs.Updates.At("of").IsUnknown())
	require.Equal(t, 3.0, a.Goal.Inputs.Updates.At("size").AsNumber())
	require.Equal(t, []string{"old"}, a.Goal.Inputs.Deletes)
	require.Equal(t, []urn.Alias{{URN: boxURN("c")}, {Name: "d"}}, a.Goal.Aliases)
	require.Equal(t, Timeouts{Create: 300}, a.Goal.CustomTimeouts)
	require.Nil(t, a.Goal.DeleteBeforeReplace)
	require.Equal(t, []string{"delete"}, p.Resources[boxURN("e")].Ops)
}

func TestWhatIsNoPlanIsRefused(t *testing.T) {
	text, err := EncodePlan(t.Context(), fullPlan(), EncoderOptions{Encrypter: sealing("key:")})
	require.NoError(t, err)
	const head = `{"manifest":{},"resourcePlans":`
	for name, c := range map[string]struct{ text, problem string }{
		"nothing":              {"", "plan.json: "},
		"no JSON":              {"hello", "plan.json: "},
		"a list":               {"[]", "an object"},
		"null":                 {"null", "not an update plan"},
		"cut off":              {string(text[:len(text)/2]), "the text ends in the middle of a value"},
		"more behind it":       {string(text) + "x", "plan.json: "},
		"an export":            {`{"version":3,"deployment":{}}`, "plan.json: version: this is not an update plan"},
		"a bare deployment":    {`{"manifest":{},"resources":[]}`, "resources: this is not an update plan"},
		"something else":       {`{}`, "this is not an update plan"},
		"no URN":               {head + `{"a":{}}}`, "plan.json: resourcePlans (a): this is not a URN"},
		"null resource":        {head + `{"` + string(boxURN("a")) + `":null}}`, "null instead of the plan of a resource"},
		"steps of numbers":     {head + `{"` + string(boxURN("a")) + `":{"steps":[1]}}}`, string(boxURN("a"))},
		"goal of another":      {head + `{"` + string(boxURN("a")) + `":{"goal":{"type":"testpkg:index:Box","name":"b"}}}}`, "the goal is of another resource: b"},
		"malformed value":      {head + `{"` + string(boxURN("a")) + `":{"state":{"x":{"4dabf18193072939515e22adb298388d":"zz"}}}}}`, "state: "},
		"seed that is no text": {head + `{"` + string(boxURN("a")) + `":{"seed":7}}}`, "seed"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := DecodePlan(t.Context(), []byte(c.text), PlanDecodeOptions{Name: "plan.json", Decrypter: sealing("key:")})
			require.Nil(t, p)
			var d *DecodeError
			require.ErrorAs(t, err, &d)
			require.ErrorContains(t, err, "plan.json")
			require.ErrorContains(t, err, c.problem)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestPlanWithSecretsOfAnotherKeyIsRefused(t *testing.T) {
	text, err := EncodePlan(t.Context(), fullPlan(), EncoderOptions{Encrypter: sealing("key:")})
	require.NoError(t, err)
	for name, d := range map[string]property.Decrypter{"another key": sealing("other:"), "no key": nil} {
		t.Run(name, func(t *testing.T) {
			p, err := DecodePlan(t.Context(), text, PlanDecodeOptions{Name: "plan.json", Decrypter: d})
			require.Nil(t, p)
			require.ErrorIs(t, err, ErrPlanSecrets)
			require.ErrorContains(t, err, "plan.json: resourcePlans ("+string(boxURN("full"))+"): ")
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func FuzzDecodePlan(f *testing.F) {
	golden, err := os.ReadFile("testdata/plan.json")
	require.NoError(f, err)
	f.Add(golden)
	f.Add([]byte(`{"resourcePlans":{"urn:pulumi:dev::shop::t:t:T::a":{"goal":{"inputDiff":{"adds":{"a":` + strings.Repeat("[", 100_000)))
	f.Add([]byte(`{"manifest":{},"resourcePlans":{"urn:pulumi:dev::shop::t:t:T::a":{"steps":["same"],"state":{"x":null},"seed":"AA=="}}}`))
	f.Add([]byte(`{"manifest":null,"config":{"a":[1,{}]},"resourcePlans":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := PlanDecodeOptions{Name: "plan.json", Decrypter: sealing("key:")}
		var p *Plan
		var err error
		fuzzing.Bound(t, len(data), 500, func() { p, err = DecodePlan(t.Context(), data, o) })
		if err != nil {
			require.ErrorContains(t, err, "plan.json")
			require.Nil(t, p)
			return
		}
		if !utf8.Valid(data) {
			return // text that is not UTF-8 is written as the replacement character
		}
		text, err := EncodePlan(t.Context(), p, EncoderOptions{Encrypter: sealing("key:")})
		if err != nil {
			return // names that are not valid in files
		}
		again, err := DecodePlan(t.Context(), text, o)
		require.NoError(t, err)
		twice, err := EncodePlan(t.Context(), again, EncoderOptions{Encrypter: sealing("key:")})
		require.NoError(t, err)
		require.Equal(t, string(text), string(twice))
	})
}
