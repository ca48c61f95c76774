package autonaming_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages/autonaming"
	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// FuzzParse reads any text as the setting. Errors name the setting, and a proposed name depends only on the resource and its seed.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", `{}`, `{"mode":"verbatim"}`, `{"mode":"disabled","pattern":"x"}`, `{"pattern":"${project}-${stack}-${name}-${hex(4)}","enforce":true}`,
		`{"pattern":"${alphanum(99999999)}"}`, `{"pattern":"${config.x}${num(3)}$${a}${"}`, `{"pattern":"${uuid}${organization}${string(5)}"}`,
		`{"providers":{"a":{"pattern":"${name}","resources":{"a:b:C":{"mode":"default"}}}}}`,
	} {
		f.Add(s)
	}
	stack := autonaming.Stack{Organization: "o", Project: "p", Stack: "s", Config: func(name string) (string, bool) { return "v", name == "x" }}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Bound(t, len(text), 3000, func() {
			n, err := autonaming.Parse(text, stack)
			if err != nil {
				require.ErrorContains(t, err, autonaming.Key)
				return
			}
			first, random := n.Autoname("urn:pulumi:s::p::a:b:C::n", []byte{1, 2})
			second, _ := n.Autoname("urn:pulumi:s::p::a:b:C::n", []byte{1, 2})
			if first == nil {
				return
			}
			require.Equal(t, first.ProposedName, second.ProposedName, "random: %v", random)
		})
	})
}
