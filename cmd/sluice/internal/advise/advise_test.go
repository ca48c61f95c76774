package advise

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// actions returns the constants of the enumeration in package advice.
func actions(t *testing.T) []advice.Action {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../../advice/action.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var all []advice.Action
	ast.Inspect(file, func(n ast.Node) bool {
		if s, is := n.(*ast.ValueSpec); is {
			text, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			all = append(all, advice.Action(text))
		}
		return true
	})
	require.Greater(t, len(all), 20)
	return all
}

func TestEveryActionHasWords(t *testing.T) {
	all := actions(t)
	for _, a := range all {
		require.Contains(t, words, a)
	}
	require.Len(t, words, len(all))
}

func TestAdviceFollowsTheMessage(t *testing.T) {
	u := urn.URN("urn:pulumi:dev::p::a:b:C$d:e:F::it's")
	for name, c := range map[string]struct {
		message string
		advice  []advice.Advice
		want    string
	}{
		"none":           {"a message\n", nil, "a message\n"},
		"on a new line":  {"no such key", []advice.Advice{{Action: advice.SetConfig, Key: "p:k"}}, "no such key\nset it with `sluice config set p:k <value>`"},
		"within a stack": {"no such key\n", []advice.Advice{{Action: advice.SetConfig, Key: "p:k"}}, "no such key\nset it with `sluice config set p:k <value>`\n"},
		"in the same line": {"this could be dangerous", []advice.Advice{advice.On(advice.ImportAnyway)},
			"this could be dangerous; rerun with --force to proceed anyway"},
		"several": {"m", []advice.Advice{advice.On(advice.CancelLock), advice.On(advice.ListResources)},
			"m\n`sluice cancel` removes the lock\n`sluice stack --show-urns` lists all resources"},
		"quoted for the shell": {"protected.", []advice.Advice{advice.On(advice.Unprotect, u)},
			"protected. To unprotect the resource, either remove the `protect` flag from the resource in your program and run `sluice up`, " +
				"or use the command:\n`sluice state unprotect 'urn:pulumi:dev::p::a:b:C$d:e:F::it'\"'\"'s'`"},
		"an object": {"m", []advice.Advice{{Action: advice.Adopt, URNs: []urn.URN{"urn:a"}, ID: "i-1"}},
			"m\n`sluice recover --adopt 'urn:a=i-1'` records it. If nothing can be read of objects of its type, undo by hand what was made, " +
				"and then forget it with `sluice recover --assume-not-created`"},
		"a stack": {"m", []advice.Advice{{Action: advice.MakeStack, Stack: "it's"}},
			"m\n`sluice stack ls` lists the stacks; `sluice stack init 'it'\"'\"'s'` makes this one"},
		"targets": {"m", []advice.Advice{advice.On(advice.TargetNeeded, "urn:a", "urn:b")},
			"m\nAdd what it needs: --target 'urn:a' --target 'urn:b'"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, With(c.message, c.advice...))
			require.Equal(t, c.want, Text(advice.With(errors.New(c.message), c.advice...)))
			e := Event(stages.Diagnostic{LogMessage: stages.LogMessage{Message: c.message, Advice: c.advice}})
			require.Equal(t, stages.Diagnostic{LogMessage: stages.LogMessage{Message: c.want}}, e)
		})
	}
}

func TestACommandOfPulumiIsFollowedBySluices(t *testing.T) {
	for message, want := range map[string]string{
		"no command": "no command",
		"Missing required configuration variable 'p:k'\n\tplease set a value using the command `pulumi config set --secret p:k <value>`": "Missing required configuration variable 'p:k'\n" +
			"\tplease set a value using the command `pulumi config set --secret p:k <value>`\nwith sluice: `sluice config set --secret p:k <value>`",
		"run `pulumi config` to set\n":                       "run `pulumi config` to set\nwith sluice: `sluice config`\n",
		"`pulumi up`, `pulumi up` or `pulumi refresh --yes`": "`pulumi up`, `pulumi up` or `pulumi refresh --yes`\nwith sluice: `sluice up`, `sluice refresh --yes`",
		"`pulumi up` is `sluice up`":                         "`pulumi up` is `sluice up`",
		"a `pulumi`-like":                                    "a `pulumi`-like",
	} {
		require.Equal(t, want, Translated(message))
	}
}
