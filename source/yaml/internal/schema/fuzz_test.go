package schema

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// A type that is used twice at each of many levels is visited once.
func TestPathsAreFoundInTypesThatShareOthers(t *testing.T) {
	text := shared(40, `"replaceOnChanges":false`)
	p, err := Parse("p", text)
	require.NoError(t, err)
	require.Empty(t, p.Resource("p:index:R").ReplacePaths())

	p, err = Parse("p", shared(2, `"replaceOnChanges":true`))
	require.NoError(t, err)
	require.Equal(t, []string{"x.a.a.end", "x.a.b.end", "x.b.a.end", "x.b.b.end"}, p.Resource("p:index:R").ReplacePaths())

	p, err = Parse("p", `{"resources":{"p:index:R":{"properties":{"x":{"$ref":"#/types/A"}}}},"types":{
		"A":{"type":"object","properties":{"b":{"$ref":"#/types/B"}}},
		"B":{"type":"object","properties":{"a":{"$ref":"#/types/A"},"end":{"type":"string","replaceOnChanges":true}}}}}`)
	require.NoError(t, err)
	require.Equal(t, []string{"x.b.end"}, p.Resource("p:index:R").ReplacePaths())
}

// shared returns the schema of a resource with a type at each level that has two properties of the type at the next level.
func shared(levels int, end string) string {
	var b strings.Builder
	b.WriteString(`{"resources":{"p:index:R":{"properties":{"x":{"$ref":"#/types/T0"}}}},"types":{`)
	for i := range levels {
		next := `{"$ref":"#/types/T` + string(rune('0'+i+1)) + `"}`
		b.WriteString(`"T` + string(rune('0'+i)) + `":{"type":"object","properties":{"a":` + next + `,"b":` + next + `}},`)
	}
	b.WriteString(`"T` + string(rune('0'+levels)) + `":{"type":"object","properties":{"end":{"type":"string",` + end + `}}}}}`)
	return b.String()
}

// FuzzPackage reads any text as the schema of a package and calls every method.
func FuzzPackage(f *testing.F) {
	f.Add("")
	f.Add(`{"name":"p","version":"1.0.0","resources":{"p:index/r:R":{"inputProperties":{"a":{"type":"array","items":{"type":"string"}}},
		"properties":{"b":{"type":"string","secret":true},"c":{"oneOf":[{"type":"string"},{"$ref":"#/types/p:index:T"}]}},"aliases":[{"type":"p:index:Old"}]}},
		"types":{"p:index:T":{"type":"object","properties":{"self":{"$ref":"#/types/p:index:T"},"e":{"$ref":"#/types/p:index%3AE","replaceOnChanges":true}}},
		"p:index:E":{"type":"string","enum":[{"value":"x"},{"value":1}]}},"functions":{"p:index:f":{"inputs":{"properties":{}},"outputs":{"properties":{}}}},
		"provider":{"inputProperties":{"k":{"$ref":"pulumi.json#/Asset"}}}}`)
	f.Add(`{"types":{"A":{"type":"array","items":{"$ref":"#/types/A"}}},"resources":{"R":{"properties":{"x":{"$ref":"#/types/A"}}}}}`)
	f.Add(shared(5, `"const":1`))
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Bound(t, len(text), 4000, func() {
			p, err := Parse("p", text)
			if err != nil {
				require.ErrorContains(t, err, "package p")
				return
			}
			for _, short := range p.ResourceTokens() {
				full, _ := p.ResolveResource(short)
				if r := p.Resource(full); r != nil {
					require.True(t, slices.IsSorted(r.SecretOutputs()))
					if len(text) < 1000 {
						r.ReplacePaths()
					}
				}
			}
			for _, short := range p.FunctionTokens() {
				full, _ := p.ResolveFunction(short)
				p.Function(full)
			}
			p.Resource("pulumi:providers:p")
			p.ResolveResource("p:index:Nothing")
		})
	})
}
