package property

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGoValuesHaveNoSpecialObjects(t *testing.T) {
	var decoded any
	require.NoError(t, json.Unmarshal([]byte(`{"4dabf18193072939515e22adb298388d": "x", "list": [true, 1.5, null, {}]}`), &decoded))
	v, err := FromGo(decoded)
	require.NoError(t, err)
	require.Equal(t, Of(NewMap(map[string]Value{
		"4dabf18193072939515e22adb298388d": String("x"),
		"list":                             ArrayOf(Bool(true), Number(1.5), Null, Of(NewMap(map[string]Value{}))),
	})), v)
}

func TestGoValuesOfAllKindsHaveValues(t *testing.T) {
	type name string
	size := 3
	v, err := FromGo(map[name]any{
		"int": 1, "uint": uint8(2), "pointer": &size, "none": (*int)(nil), "texts": []string{"a"}, "number": json.Number("4.5"), "own": Secret(String("x")),
	})
	require.NoError(t, err)
	require.True(t, Equal(v, Of(NewMap(map[string]Value{
		"int": Number(1), "uint": Number(2), "pointer": Number(3), "none": Null, "texts": ArrayOf(String("a")), "number": Number(4.5), "own": Secret(String("x")),
	}))))
}

func TestWhatHasNoValueIsAnErrorThatSaysWhereItIs(t *testing.T) {
	for text, v := range map[string]any{
		`a struct {} at property "list[1].x" cannot be converted`: map[string]any{"list": []any{1, map[string]any{"x": struct{}{}}}},
		`is too large to be exact; write it as a text`:            uint64(math.MaxUint64),
		`the number 9007199254740993 at property "id"`:            map[string]any{"id": int64(1<<53 + 1)},
		`a map[int]int at property "" cannot be converted`:        map[int]int{1: 1},
		`has no value: strconv.ParseFloat`:                        json.Number("many"),
	} {
		_, err := FromGo(v)
		require.ErrorContains(t, err, text)
	}
	var loop any
	loop = &loop
	_, err := FromGo(loop)
	require.ErrorContains(t, err, "nested deeper")
}

func TestAsSaysWhatDoesNotFit(t *testing.T) {
	n, err := As[int](Number(3))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	s, err := As[string](String("x"))
	require.NoError(t, err)
	require.Equal(t, "x", s)
	for text, f := range map[string]func() error{
		"the value is a text, not a number":               func() error { _, err := As[float64](String("1")); return err },
		"the value is the number 1.5, not a whole number": func() error { _, err := As[int](Number(1.5)); return err },
		"the value is a secret, not a text":               func() error { _, err := As[string](Secret(String("x"))); return err },
		"the value is an unknown, not an array":           func() error { _, err := As[Array](Computed()); return err },
		"the value is null, not an object":                func() error { _, err := As[Map](Null); return err },
		"the value is an object, not a whole number":      func() error { _, err := As[int](Of(Map{})); return err },
		"the value is an output, not an asset":            func() error { _, err := As[Asset](OutputOf(Output{})); return err },
		"the value is a bool, not a resource":             func() error { _, err := As[Reference](Bool(true)); return err },
		"the value is an asset, not a bool":               func() error { _, err := As[bool](Of(Asset{})); return err },
		"the value is an array, not an archive":           func() error { _, err := As[Archive](ArrayOf()); return err },
	} {
		require.EqualError(t, f(), text)
	}
}

func TestTextsOfValuesShowNoSecretsAndAreBounded(t *testing.T) {
	m := NewMap(map[string]Value{
		"name": String("web"), "size": Number(2), "on": Bool(true), "none": Null, "later": Computed(), "token": Secret(String("hunter2")),
		"list": ArrayOf(Number(1), Secret(Number(4711))), "a b": String("x"), "file": Of(Asset{Kind: KindPath, Path: "a.txt"}),
		"folder": Of(Archive{Kind: KindMembers, Members: NewMap(map[string]Value{"x": Of(Asset{Kind: KindText, Text: "t"})})}),
		"output": OutputOf(Output{Known: true, Element: String("o")}), "hidden": OutputOf(Output{Known: true, Secret: true, Element: String("hunter2")}),
		"ref": Of(Reference{URN: "urn:pulumi:dev::p::t::n"}),
	})
	want := `{["a b"]: "x", file: asset("a.txt"), folder: archive({x: asset("t")}), hidden: [secret], later: [unknown], list: [1, [secret]], ` +
		`name: "web", none: null, on: true, output: "o", ref: resource(urn:pulumi:dev::p::t::n), size: 2, token: [secret]}`
	for _, verb := range []string{"%v", "%+v", "%s", "%#v"} {
		require.Equal(t, want, fmt.Sprintf(verb, m))
		require.NotContains(t, fmt.Sprintf(verb, struct{ V Value }{Secret(String("hunter2"))}), "hunter2")
	}
	many := make([]Value, 10_000)
	for i := range many {
		many[i] = String(strings.Repeat("ä", 500))
	}
	text := ArrayOf(many...).String()
	require.Less(t, len(text), 2*MaxText)
	require.True(t, strings.HasSuffix(text, `"..., ...]`), text[len(text)-40:])
	deep := Null
	for range 100_000 {
		deep = ArrayOf(deep)
	}
	require.Less(t, len(deep.String()), 2*MaxText)
	require.NotContains(t, Of(Asset{Kind: KindText, Text: "ends with..."}).String(), `...)`)
}
