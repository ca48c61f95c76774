package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPrintedTextsNameTheCommandAsItWasCalled requires that every printed text with `sluice …` goes through Named, which uses the name
// by which the command was called. Errors and warnings do so where they are shown.
func TestPrintedTextsNameTheCommandAsItWasCalled(t *testing.T) {
	printed := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || !strings.HasPrefix(functionOf(call), "fmt.Fprint") {
				return true
			}
			printed++
			for _, arg := range call.Args {
				ast.Inspect(arg, func(n ast.Node) bool {
					if inner, is := n.(*ast.CallExpr); is && strings.HasSuffix(functionOf(inner), ".Named") {
						return false
					}
					if text, is := n.(*ast.BasicLit); is {
						require.NotContains(t, text.Value, "`sluice ", "%s", files.Position(text.Pos()))
					}
					return true
				})
			}
			return true
		})
		return nil
	}))
	require.Greater(t, printed, 50)
}

// functionOf returns the function of a call: "fmt.Fprintln".
func functionOf(c *ast.CallExpr) string {
	selector, is := c.Fun.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	if x, is := selector.X.(*ast.Ident); is {
		return x.Name + "." + selector.Sel.Name
	}
	return "." + selector.Sel.Name
}
