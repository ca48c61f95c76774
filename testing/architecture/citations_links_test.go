package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const published = "https://github.com/sluice-iac/sluice/blob/main/" + spec + "/"

// linkable is a citation of a section in a doc comment, with the bracket of a link before it.
var linkable = regexp.MustCompile(`(\[?)\b((?:steps|state|protocol)\.md)\s(\d+(?:\.\d+)*)`)

// The documentation of the packages that others import is read on pages that know nothing of docs/spec.
func TestDocCommentsLinkTheRulesThatTheyCite(t *testing.T) {
	rules := readRules(t)
	count := 0
	exportedDocs(t, func(file string, line int, text string) {
		for _, m := range linkable.FindAllStringSubmatch(text, -1) {
			name := m[2] + " " + m[3]
			if m[1] == "" {
				t.Errorf("%s:%d: the doc comment cites %s without a link: write [%s]", file, line, name, name)
				continue
			}
			at := rules[m[2]].sections[m[3]]
			if at == nil {
				continue // reported by TestCitationsLeadSomewhere
			}
			count++
			if link := "[" + name + "]: " + published + m[2] + "#" + at.anchor; !slices.Contains(strings.Split(text, "\n"), link) {
				t.Errorf("%s:%d: the doc comment has to end with: // %s", file, line, link)
			}
		}
	})
	require.Greater(t, count, 200)
}

// exportedDocs calls f with the doc comments of the packages that others can import, and of what these packages export. The text is without the
// marks of the comment.
func exportedDocs(t *testing.T, f func(file string, line int, text string)) {
	t.Helper()
	files(t, func(file string) {
		folders := strings.Split(file, "/")
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || slices.Contains(folders, "testdata") || slices.Contains(folders, "internal") ||
			slices.Contains([]string{"cmd", "testing", "bench", "fleet", "examples"}, folders[0]) {
			return
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution|parser.ParseComments)
		require.NoError(t, err)
		for _, doc := range docsOf(tree) {
			f(file, set.Position(doc.Pos()).Line, doc.Text())
		}
	})
}

func docsOf(tree *ast.File) []*ast.CommentGroup {
	docs := []*ast.CommentGroup{tree.Doc}
	ast.FileExports(tree)
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) {
				docs = append(docs, d.Doc)
			}
		case *ast.GenDecl:
			docs = append(docs, d.Doc)
			for _, s := range d.Specs {
				if s, is := s.(*ast.TypeSpec); is {
					docs = append(docs, s.Doc)
				}
			}
		}
	}
	return slices.DeleteFunc(docs, func(doc *ast.CommentGroup) bool { return doc == nil })
}

// receiver returns the name of the type of a method.
func receiver(d *ast.FuncDecl) string {
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}
