package aliases

import (
	"go/parser"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/stages/renames"
)

func TestAliasesAreWrittenInTheLanguageOfTheProgram(t *testing.T) {
	named := renames.Rename{From: "urn:pulumi:dev::p::t:i:T::logs", Name: "logs"}
	moved := renames.Rename{From: "urn:pulumi:dev::p::t:i:T::logs"}
	for runtime, want := range map[string][2]string{
		"yaml":   {`options: {aliases: [{name: "logs"}]}`, `options: {aliases: ["urn:pulumi:dev::p::t:i:T::logs"]}`},
		"nodejs": {`{ aliases: [{ name: "logs" }] }`, `{ aliases: ["urn:pulumi:dev::p::t:i:T::logs"] }`},
		"python": {
			`opts=pulumi.ResourceOptions(aliases=[pulumi.Alias(name="logs")])`,
			`opts=pulumi.ResourceOptions(aliases=["urn:pulumi:dev::p::t:i:T::logs"])`,
		},
		"go": {
			`pulumi.Aliases([]pulumi.Alias{{Name: pulumi.String("logs")}})`,
			`pulumi.Aliases([]pulumi.Alias{{URN: pulumi.URN("urn:pulumi:dev::p::t:i:T::logs")}})`,
		},
		"java": {
			`CustomResourceOptions.builder().aliases(Alias.builder().name("logs").build()).build()`,
			`CustomResourceOptions.builder().aliases(Alias.withUrn("urn:pulumi:dev::p::t:i:T::logs")).build()`,
		},
		"dotnet": {`an alias for "urn:pulumi:dev::p::t:i:T::logs"`, `an alias for "urn:pulumi:dev::p::t:i:T::logs"`},
		"":       {`an alias for "urn:pulumi:dev::p::t:i:T::logs"`, `an alias for "urn:pulumi:dev::p::t:i:T::logs"`},
	} {
		t.Run(runtime, func(t *testing.T) {
			require.Equal(t, want, [2]string{Text(runtime, named), Text(runtime, moved)})
		})
	}
}

// Names may contain anything. The pasted text is still one line with the same meaning.
func TestOddNamesCanBePasted(t *testing.T) {
	for _, name := range []string{`a"b`, `a\b`, "a\nb", "a\u202eb", "yes", "12", "ä b", "a\x1b[31mb"} {
		r := renames.Rename{From: "u", Name: name}
		text := Text("yaml", r)
		require.NotContains(t, text, "\n")
		require.NotContains(t, text, "\u202e")
		require.NotContains(t, text, "\x1b")
		var parsed struct {
			Options struct{ Aliases []struct{ Name string } }
		}
		require.NoError(t, yaml.Unmarshal([]byte(text), &parsed), text)
		require.Equal(t, name, parsed.Options.Aliases[0].Name)
		_, err := parser.ParseExpr(Text("go", r))
		require.NoError(t, err)
	}
	require.Equal(t, `options: {aliases: [{name: "a$${b}"}]}`, Text("yaml", renames.Rename{Name: "a${b}"}), "YAML programs put values in their texts")
}
