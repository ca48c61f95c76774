package display

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// filled sets every field of a struct to something, so that every key is in its JSON.
func filled(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(t, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return
		}
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				filled(t, f)
			} else if v.Type().Field(i).Anonymous {
				filled(t, reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem())
			}
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if k := v.Type().Key(); k.Kind() == reflect.String {
			key, value := reflect.New(k).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString("key")
			filled(t, value)
			v.SetMapIndex(key, value)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(t, v.Index(0))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		v.Set(reflect.ValueOf("text"))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(1)
	default:
		t.Fatalf("nothing for %s", v.Type())
	}
}

// New extensions of events are left out for programs that decode Pulumi's events strictly.
func TestPlainEventsHaveWhatPulumisHave(t *testing.T) {
	kinds := reflect.TypeFor[eventEnvelope]()
	pick := func(v reflect.Value, name string) {
		f := v.FieldByName(name)
		f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
		filled(t, f)
	}
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(kinds) {
		if f.Type.Kind() == reflect.Pointer {
			names[f.Name] = true
		}
	}
	require.Len(t, names, 15)
	for name := range names {
		t.Run(name, func(t *testing.T) {
			var n eventEnvelope
			pick(reflect.ValueOf(&n).Elem(), name)
			n.dropExtensions()
			text, err := json.Marshal(n)
			require.NoError(t, err)
			var out apitype.EngineEvent
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			require.NoError(t, d.Decode(&out), "%s", text)
		})
	}
}

// previewOf returns the document of a preview with one step and one message.
func previewOf(t *testing.T, o Options, s stages.StepInfo) string {
	t.Helper()
	d := NewPreviewDocument(o)
	d.Observe(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, Message: "careful"}, Pending: []state.Pending{{Resource: s.New, Type: "creating"}}})
	d.Observe(stages.PolicyViolation{Message: "too large", Level: stages.Mandatory})
	d.Observe(stages.Summary{IsPreview: true, Changes: map[stages.Op]int{stages.OpUpdate: 1}, Duration: 5})
	var out bytes.Buffer
	require.NoError(t, d.Write(&out, []stages.StepInfo{s}, nil))
	return out.String()
}

func TestAPlainPreviewHasWhatPulumisHas(t *testing.T) {
	resource := func(size float64) *state.Resource {
		return &state.Resource{
			URN: "urn:pulumi:dev::p::a:b:C::x", Type: "a:b:C", Custom: true, ID: "x-1",
			Inputs: property.NewMap(map[string]property.Value{
				"size": property.Number(size), "key": property.Secret(property.String("hunter2")), "later": property.Computed(),
			}),
			Outputs:              property.NewMap(map[string]property.Value{"size": property.Number(size), "code": property.Secret(property.String("hunter2"))}),
			PropertyDependencies: nil, IgnoreChanges: []string{"other"}, HideDiff: []string{"size"}, RefreshBeforeUpdate: true,
		}
	}
	s := stages.StepInfo{
		Op: stages.OpUpdate, URN: "urn:pulumi:dev::p::a:b:C::x", Type: "a:b:C", Provider: "ref", Old: resource(1), New: resource(2),
		Diffs: []string{"size"}, Reason: stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"size"}},
	}
	require.Contains(t, previewOf(t, Options{Details: Details{Extended: true}}, s), `"reason"`)
	text := previewOf(t, Options{}, s)
	var doc struct {
		Config map[string]string `json:"config"`
		Steps  []struct {
			Op             string              `json:"op"`
			URN            string              `json:"urn"`
			Provider       string              `json:"provider"`
			OldState       *apitype.ResourceV3 `json:"oldState"`
			NewState       *apitype.ResourceV3 `json:"newState"`
			DiffReasons    []string            `json:"diffReasons"`
			ReplaceReasons []string            `json:"replaceReasons"`
			DetailedDiff   map[string]any      `json:"detailedDiff"`
		} `json:"steps"`
		Diagnostics []struct {
			URN      string `json:"urn"`
			Message  string `json:"message"`
			Severity string `json:"severity"`
		} `json:"diagnostics"`
		Duration      time.Duration  `json:"duration"`
		ChangeSummary map[string]int `json:"changeSummary"`
		MaybeCorrupt  bool           `json:"maybeCorrupt"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&doc), text)
	require.Len(t, doc.Steps, 1)
	require.Equal(t, map[string]any{"size": 1.0, "code": "[secret]"}, doc.Steps[0].OldState.Outputs)
	require.Equal(t, map[string]any{"size": 2.0, "key": "[secret]", "later": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}, doc.Steps[0].NewState.Inputs)
	require.Empty(t, doc.Steps[0].NewState.Outputs)
	require.Empty(t, doc.Steps[0].NewState.ID)
	require.Equal(t, []string{"other"}, doc.Steps[0].NewState.IgnoreChanges)
	require.Len(t, doc.Diagnostics, 1)
	require.Equal(t, "warning: careful\n", doc.Diagnostics[0].Message)
}
