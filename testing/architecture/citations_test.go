package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// spec is the folder of the pages of rules; docs/spec/README.md defines how they are cited.
const spec = "docs/spec"

func TestCitationsLeadSomewhere(t *testing.T) {
	rules := readRules(t)
	count := 0
	files(t, func(file string) {
		for _, p := range passages(t, file) {
			for _, c := range citationsIn(p, pageOf(file)) {
				count++
				if problem := rules.problemOf(c); problem != "" {
					t.Errorf("%s:%d: %q: %s", file, c.line, c.text, problem)
				}
			}
		}
	})
	require.Greater(t, count, 700)
}

func TestNumbersOfRulesHaveNoHoles(t *testing.T) {
	for name, page := range readRules(t) {
		for number := range page.sections {
			parent, last := cutNumber(number)
			n, err := strconv.Atoi(last)
			if err != nil || n <= 1 {
				continue // letters, and the first of their kind
			}
			if before := joinNumber(parent, strconv.Itoa(n-1)); page.sections[before] == nil {
				t.Errorf("%s has a section %s and no section %s", name, number, before)
			}
			if parent != "" && page.sections[parent] == nil {
				t.Errorf("%s has a section %s and no section %s", name, number, parent)
			}
		}
	}
}

func TestCitationsAreFound(t *testing.T) {
	for text, want := range map[string][]string{
		"(steps.md 3.11)":                             {"steps.md 3.11"},
		"(steps.md 3.11, 5)":                          {"steps.md 3.11", "steps.md 5"},
		"steps.md 7.4, 7.5: both":                     {"steps.md 7.4", "steps.md 7.5"},
		"(state.md\n 9.4 R-6 to R-8, R-10)":           {"state.md 9.4 R-6", "state.md 9.4 R-8", "state.md 9.4 R-10"},
		"protocol.md 9 and 10 and the rest":           {"protocol.md 9", "protocol.md 10"},
		"steps.md 1.2 items 8 and 9, 3.4":             {"steps.md 1.2 item 8", "steps.md 1.2 item 9", "steps.md 3.4"},
		"steps.md 5.3 rule 4.":                        {"steps.md 5.3 item 4"},
		`steps.md 3.11, "ignoring impossible"`:        {`steps.md 3.11 "ignoring impossible"`},
		"protocol.md section 8, state.md sections 1":  {"protocol.md 8", "state.md 1"},
		"steps.md appendix B, A.2":                    {"steps.md B", "steps.md A.2"},
		"see ORD-3, ORD-4":                            {"steps.md ORD-3", "steps.md ORD-4"},
		"steps.md ORD-3 and R-4":                      {"steps.md ORD-3", "state.md R-4"},
		"[it](docs/state.md) and `spec/steps.md` (3)": nil,
		"steps.md says":                               {"steps.md"},
		"the numbers 3.11 and [rules](state.md)":      nil,
		"[state.md](state.md) says":                   nil,
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, c := range citationsIn(passage{text: text, line: 1}, "") {
				got = append(got, c.String())
			}
			require.Equal(t, want, got)
		})
	}
}

// passage is a piece of text that may cite rules, with the number of its first line.
type passage struct {
	text string
	line int
}

// passages returns the comments and strings of a Go file, and other texts as a whole.
func passages(t *testing.T, file string) []passage {
	t.Helper()
	switch {
	case strings.Contains(file, "testdata/"), strings.HasPrefix(path.Base(file), "citations_"), file == spec+"/README.md":
		return nil
	case strings.HasSuffix(file, ".go"):
		return goPassages(t, file)
	case strings.HasSuffix(file, ".md"), strings.HasPrefix(file, "docs/") && strings.HasSuffix(file, ".json"):
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		return []passage{{string(text), 1}}
	}
	return nil
}

var commentMark = regexp.MustCompile(`(?m)^\s*//`)

func goPassages(t *testing.T, file string) []passage {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution|parser.ParseComments)
	require.NoError(t, err)
	var out []passage
	add := func(pos token.Pos, text string) { out = append(out, passage{text, set.Position(pos).Line}) }
	for _, group := range tree.Comments {
		var text strings.Builder
		for _, c := range group.List {
			text.WriteString(commentMark.ReplaceAllString(c.Text, "") + "\n")
		}
		add(group.Pos(), text.String())
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, is := n.(*ast.BasicLit); is && s.Kind == token.STRING {
			add(s.Pos(), s.Value)
		}
		return true
	})
	return out
}
