package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	loader "golang.org/x/tools/go/packages"

	"github.com/sluice-iac/sluice/testing/tier"
)

// A change to a type also has to reach the files that only other systems compile. Checking types is much cheaper than compiling all dependencies for
// another system, which the check "systems" does before a release.
func TestTheTypesAreRightOnWindows(t *testing.T) {
	tier.Slow(t, "the types of all dependencies")
	loaded, err := loader.Load(&loader.Config{
		Dir: root, Env: append(os.Environ(), "GOOS=windows", "CGO_ENABLED=0"), Mode: loader.NeedName | loader.NeedFiles | loader.NeedCompiledGoFiles |
			loader.NeedImports | loader.NeedDeps | loader.NeedTypes | loader.NeedSyntax | loader.NeedTypesInfo,
		ParseFile: declarations(t),
	}, module+"/...")
	require.NoError(t, err)
	require.Greater(t, len(loaded), 100)
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.PkgPath)
	}
}

// declarations returns a parser that leaves out the bodies of functions of dependencies, because only what these declare matters here. The mistakes that they
// have without bodies, such as imports that they do not use, are theirs alone.
func declarations(t *testing.T) func(*token.FileSet, string, []byte) (*ast.File, error) {
	t.Helper()
	ours, err := filepath.Abs(root)
	require.NoError(t, err)
	return func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution|parser.AllErrors)
		if err != nil || strings.HasPrefix(name, ours+string(filepath.Separator)) {
			return file, err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
		}
		return file, nil
	}
}
