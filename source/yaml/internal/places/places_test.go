package places

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/stages"
)

const program = `config:
  region: {type: string, default: eu}
  named: {type: string, name: "aws:zone", default: a}
variables:
  where:
    fn::join: ["-", ["${region}", "${named}"]]
resources:
  a:
    type: p:m:T
    properties:
      region: ${region}
      deep:
        list:
          - one
          - name: ${where} ${shop:size}
        text: |
          ${other}
  b:
    type: p:m:T
    properties: ${where}
`

func TestLocate(t *testing.T) {
	template, _, found := ast.Parse("Main.yaml", program)
	require.Empty(t, found)
	report := syntax.NewReport(nil)
	scope := bind.NewScope("shop", bind.ConfigurationValue)
	for _, key := range []string{"shop:size", "shop:other"} {
		scope.AddStackValue(key, property.Number(1))
	}
	for _, c := range template.Config {
		scope.Declare(c, report)
	}
	bind.Bind(template, scope, report)
	require.Zero(t, report.Errors())
	var p Places
	file := &File{Name: "infra/Main.yaml", Scope: scope}
	p.Add("a", template.Resources[0], file)
	p.Add("b", template.Resources[1], file)
	for path, want := range map[string]stages.Place{
		"":                    {Position: "infra/Main.yaml:8"},
		"region":              {Position: "infra/Main.yaml:11", Settings: []string{"shop:region"}},
		"region.within":       {Position: "infra/Main.yaml:11", Settings: []string{"shop:region"}},
		"deep.list[0]":        {Position: "infra/Main.yaml:14"},
		"deep.list[1].name":   {Position: "infra/Main.yaml:15", Settings: []string{"aws:zone", "shop:region", "shop:size"}},
		"deep.list[7]":        {Position: "infra/Main.yaml:13", Settings: []string{"aws:zone", "shop:region", "shop:size"}},
		"deep.text":           {Position: "infra/Main.yaml:16", Settings: []string{"shop:other"}},
		"no-longer-in-there":  {Position: "infra/Main.yaml:8"},
		"[0]":                 {Position: "infra/Main.yaml:8"},
		`deep["list"][0].out`: {Position: "infra/Main.yaml:14"},
	} {
		parsed, err := property.ParsePath(path)
		require.NoError(t, err)
		got, known := p.Locate("a", parsed)
		require.True(t, known, path)
		require.Equal(t, want, got, path)
	}
	got, known := p.Locate("b", property.Path{property.Key("anything")})
	require.True(t, known)
	require.Equal(t, stages.Place{Position: "infra/Main.yaml:20", Settings: []string{"aws:zone", "shop:region"}}, got)
	_, known = p.Locate("c", nil)
	require.False(t, known)
	p.Clear()
	_, known = p.Locate("a", nil)
	require.False(t, known)
}

// The inputs of a component are not settings, although their names may be those of settings.
func TestInputsOfComponentsAreNoSettings(t *testing.T) {
	template, _, found := ast.Parse("Main.yaml", "resources:\n  a: {type: 'p:m:T', properties: {v: '${size}'}}\n")
	require.Empty(t, found)
	scope := bind.NewScope("shop", bind.Input)
	scope.AddStackValue("size", property.Number(1))
	var p Places
	p.Add("a", template.Resources[0], &File{Name: "Main.yaml", Scope: scope})
	got, _ := p.Locate("a", property.Path{property.Key("v")})
	require.Equal(t, stages.Place{Position: "Main.yaml:2"}, got)
}
