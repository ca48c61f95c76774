package functions

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/urn"
)

func TestMarksOfArgumentsAreThoseOfTheResult(t *testing.T) {
	const a, b urn.URN = "urn:pulumi:s::p::t::a", "urn:pulumi:s::p::t::b"
	from := func(u urn.URN, v property.Value) property.Value {
		return property.OutputOf(property.Output{Element: v, Known: true, Dependencies: []urn.URN{u}})
	}
	unknown := property.OutputOf(property.Output{Dependencies: []urn.URN{a}})
	secret := property.Secret(property.String("x"))
	list := property.ArrayOf(property.String("x"), secret)
	for name, c := range map[string]struct {
		function string
		args     []property.Value
		want     property.Value
	}{
		"the union of dependencies": {"fn::join", []property.Value{from(a, property.String("-")), from(b, list)},
			property.OutputOf(property.Output{Element: property.String("x-x"), Known: true, Secret: true, Dependencies: []urn.URN{a, b}})},
		"an unknown argument":             {"fn::toBase64", []property.Value{unknown}, unknown},
		"an element that is not secret":   {"fn::select", []property.Value{property.Number(0), list}, property.String("x")},
		"an element that is secret":       {"fn::select", []property.Value{property.Number(1), list}, secret},
		"the length of a list of secrets": {"fn::length", []property.Value{list}, property.Secret(property.Number(2))},
	} {
		t.Run(name, func(t *testing.T) {
			got, mistake := Call(c.function, c.args, "")
			require.Nil(t, mistake)
			require.True(t, property.Equal(c.want, got), "%v", got)
		})
	}
}

func TestAMistakeNamesTheArgumentAndTheElement(t *testing.T) {
	_, mistake := Call("fn::join", []property.Value{property.String(","), property.ArrayOf(property.String("x"), property.Number(1))}, "")
	require.Equal(t, &Mistake{Argument: 1, Element: 1, Text: "fn::join takes a list of strings, and element 1 is a number"}, mistake)
	_, mistake = Call("fn::select", []property.Value{property.Number(2), property.ArrayOf(property.Null)}, "")
	require.Equal(t, &Mistake{Argument: 1, Element: -1, Text: "there is no element 2: the list has 1 element, with the index 0"}, mistake)
}

// Each encoding of an encoding is longer: a few dozen of them would fill the memory.
func TestEncodingsOfEncodingsHaveALimit(t *testing.T) {
	for name, half := range map[string]string{
		"fn::toJSON": strings.Repeat(`"`, values.MaxSize/2), "fn::toBase64": strings.Repeat("x", values.MaxSize-1),
	} {
		_, mistake := Call(name, []property.Value{property.String(half)}, "")
		require.NotNil(t, mistake, name)
		require.Equal(t, "the text becomes longer than 64 MiB here", mistake.Text)
	}
}
