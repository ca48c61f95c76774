package architecture

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/tier"
)

// asking are the functions that ask which tier runs and do not say so in the first one, with what follows for the slow tier of .ci/run, which runs
// what said so.
var asking = map[string]string{
	"source/java/program_test.go TestMain":                                      "it installs, for tests that say so",
	"source/nodejs/program_test.go TestMain":                                    "it installs, for tests that say so",
	"source/python/program_test.go TestMain":                                    "it installs, for tests that say so",
	"cmd/sluice/examples_test.go TestExamples":                                  "each script says so",
	"testing/scratch/scratch.go Run":                                            "the tests are the same, and their files are elsewhere",
	"testing/modelcheck/modelcheck_test.go TestEverySmallScheduleKeepsTheRules": "the slow tier skips it",
}

// A test of the slow tier that says nothing in the first one would never run in .ci/run.
func TestWhatTheSlowTierHasIsSaidInTheFirst(t *testing.T) {
	asked := map[string]bool{}
	files(t, func(file string) {
		if !strings.HasSuffix(file, ".go") || strings.HasPrefix(file, "testing/tier/") {
			return
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution|parser.ParseComments)
		require.NoError(t, err)
		for _, group := range tree.Comments {
			for _, c := range group.List {
				if expression, err := constraint.Parse(c.Text); err == nil {
					expression.Eval(func(tag string) bool {
						require.NotEqual(t, "slow", tag, "%s: the tiers share test binaries (decision 0264), so no file can be of one of them: call tier.Slow", file)
						return true
					})
				}
			}
		}
		for _, d := range tree.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				s, is := n.(*ast.SelectorExpr)
				if !is || s.Sel.Name != "IsSlow" {
					return true
				}
				if x, is := s.X.(*ast.Ident); !is || x.Name != "tier" {
					return true
				}
				name := file
				if f, is := d.(*ast.FuncDecl); is {
					name += " " + f.Name.Name
				}
				asked[name] = true
				require.Contains(t, asking, name, "%s asks tier.IsSlow: call tier.Slow or tier.More, which the slow tier of .ci/run sees", name)
				return true
			})
		}
	})
	for name := range asking {
		require.True(t, asked[name], "%s does not ask tier.IsSlow any more", name)
	}
}

// Scripts skip themselves by a condition, with the mark.
func TestScriptsOfTheSlowTierSaySo(t *testing.T) {
	count := 0
	files(t, func(file string) {
		if !strings.HasSuffix(file, ".txtar") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "slow]") {
				require.True(t, strings.HasPrefix(line, "[!slow] skip '"+tier.Mark), "%s: %s", file, line)
				count++
			}
		}
	})
	require.Positive(t, count)
}
