package stages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
)

// kindsOfReasons returns all constants of type ReasonKind, from the source.
func kindsOfReasons(t *testing.T) []stages.ReasonKind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reasons.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var kinds []stages.ReasonKind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "ReasonKind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			kinds = append(kinds, stages.ReasonKind(text))
		}
		return true
	})
	require.Greater(t, len(kinds), 20)
	return kinds
}

func TestEveryReasonHasAClause(t *testing.T) {
	for _, kind := range kindsOfReasons(t) {
		r := stages.Reason{Kind: kind, Cause: web, Properties: []string{"size"}}
		if kind == stages.ReasonNone {
			require.Empty(t, r.Clause())
			continue
		}
		require.Regexp(t, "^because .*[a-z)`]$", r.Clause(), "kind %q", kind)
		if text := r.String(); text != "" {
			require.Equal(t, r.Clause(), text, "kind %q", kind)
		}
	}
}

func TestReasonsNameWhatMadeTheDifference(t *testing.T) {
	for _, c := range []struct {
		reason stages.Reason
		want   string
	}{
		{stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"a", "b.c"}}, "because `a`, `b.c` changed"},
		{stages.Reason{Kind: stages.ReasonInputs}, "because its inputs changed"},
		{stages.Reason{Kind: stages.ReasonProviderSaysSo}, "because its provider reports a change without naming a property"},
		{stages.Reason{Kind: stages.ReasonProviderSaysSo, Properties: []string{"a", "b"}}, "because `a`, `b` changed"},
		{stages.Reason{Kind: stages.ReasonProviderSaysSo, Properties: []string{"a"}, By: stages.ByNotYet},
			"because `a` changed, and its provider is not configured yet and cannot tell what that needs"},
		{stages.Reason{Kind: stages.ReasonProviderSaysSo, By: stages.ByNotYet}, "because its provider is not configured yet and cannot tell"},
		{stages.Reason{Kind: stages.ReasonDependency, Cause: web}, "because web (x:index:T) is replaced"},
		{
			stages.Reason{Kind: stages.ReasonDependency, Cause: web, Properties: []string{"a"}},
			"because `a` comes from web (x:index:T), which is replaced",
		},
		{stages.Reason{Kind: stages.ReasonDrift}, "because it changed outside"},
		{stages.Reason{Kind: stages.ReasonDrift, Properties: []string{"a"}}, "because `a` changed outside"},
	} {
		require.Equal(t, c.want, c.reason.String())
	}
}

func TestACarriedStateSaysWhatUsesItOnlyWhenAsked(t *testing.T) {
	require.Empty(t, stages.Reason{Kind: stages.ReasonCarriedForward, Cause: web}.String())
	require.Equal(t, "because web (x:index:T) uses it as it is recorded", stages.Reason{Kind: stages.ReasonCarriedForward, Cause: web}.Clause())
	require.Equal(t, "because something uses it as it is recorded", stages.Reason{Kind: stages.ReasonCarriedForward}.Clause())
}

func TestReasonsInWordsAreShort(t *testing.T) {
	for want, names := range map[string][]string{
		"`a`, `b`, `c`, `d`, `e`":                     {"a", "b", "c", "d", "e"},
		"`a`, `b`, `c`, `d` and 3 others":             {"a", "b", "c", "d", "e", "f", "g"},
		"`rules`, `spec.ports`":                       {"rules[0].name", "rules[0].port", "rules[12]", "spec.ports[0]", "spec.ports[1].name"},
		"`rules[3].port`, `size`, `tags.a`, `tags.b`": {"rules[3].port", "size", "tags.a", "tags.b"},
	} {
		r := stages.Reason{Kind: stages.ReasonInputs, Properties: names}
		require.Equal(t, "because "+want+" changed", r.Clause())
	}
}
