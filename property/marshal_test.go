package property_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/property"
)

func TestEncodingJSONShowsValuesAndNoSecrets(t *testing.T) {
	hidden := OutputOf(Output{Known: true, Secret: true, Element: String("hunter2")})
	m := object("list", ArrayOf(Number(1), Null), "secret", Secret(Of(object("password", String("hunter2")))), "output", hidden, "text", String("x"))
	const text = `{"list":[1,null],"output":"[secret]","secret":"[secret]","text":"x"}`
	for name, c := range map[string]struct {
		v    any
		text string
	}{
		"object":          {m, text},
		"value":           {Of(m), text},
		"pointer":         {&m, text},
		"inside":          {struct{ Outputs Map }{m}, `{"Outputs":` + text + `}`},
		"list":            {m.At("list").AsArray(), `[1,null]`},
		"output":          {hidden.AsOutput(), `"[secret]"`},
		"no object":       {Map{}, `{}`},
		"null":            {Null, `null`},
		"sealed secret":   {Unavailable("gone"), `"[secret]"`},
		"archive":         {MemberArchive(object("a", TextAsset("x"))).AsArchive().Members, ""},
		"map of a secret": {map[string]Value{"a": Secret(String("hunter2"))}, `{"a":"[secret]"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(c.v)
			require.NoError(t, err)
			require.NotContains(t, string(got), "hunter2")
			if c.text != "" {
				require.Equal(t, c.text, string(got))
			}
		})
	}
	_, err := json.Marshal(object("k\xff", Null))
	require.ErrorContains(t, err, "k\\xff")
}

func TestEncodingJSONReadsNoValues(t *testing.T) {
	for name, into := range map[string]any{"object": &Map{}, "value": &Value{}, "list": &Array{}, "output": &Output{}, "inside": &struct{ Outputs Map }{}} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, json.Unmarshal([]byte(`{"Outputs":{"a":1}}`), into), "use property.DecodeState")
		})
	}
}
