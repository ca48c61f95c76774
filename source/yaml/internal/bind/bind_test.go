package bind

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
)

func bound(t *testing.T, text string) ([]string, string) {
	t.Helper()
	template, file, found := ast.Parse("Main.yaml", text)
	require.Empty(t, found)
	report := syntax.NewReport(nil)
	scope := NewScope("proj", ConfigurationValue)
	scope.AddStackValue("proj:size", property.Number(1))
	p := Bind(template, scope, report)
	var names []string
	for _, n := range p.Nodes {
		names = append(names, n.Name)
	}
	return names, report.Sorted().ErrorText(file)
}

func TestNodesComeAfterWhatTheyNeed(t *testing.T) {
	names, wrong := bound(t, `
resources:
  a: {type: "p:m:T", properties: {v: "${x}${b.id}"}}
  b: {type: "p:m:T", properties: {v: "${size}${proj:size}"}}
  c: {type: "p:m:T"}
variables:
  x: "${pulumi.stack}"
`)
	require.Empty(t, wrong)
	require.Equal(t, []string{"b", "x", "a", "c"}, names)
}

func TestACycleIsShownFromTheFirstNodeThatIsMetTwice(t *testing.T) {
	_, wrong := bound(t, "variables:\n  a: ${b}\n  b: ${c}\n  c: ${b}\n")
	require.Contains(t, wrong, `Main.yaml:3:3: the variable "b" depends on itself: b -> c -> b`)
}
