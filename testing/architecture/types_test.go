package architecture

import (
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	loader "golang.org/x/tools/go/packages"
)

// mostMethods is the maximum number of methods of a type, those of embedded types of the module included: what a reader of x.Method has to
// search.
const mostMethods = 30

// manyMethods lists the types with more methods, and why.
var manyMethods = map[string]string{
	"property.Map":                              "a value of the public vocabulary",
	"property.Value":                            "a value of the public vocabulary",
	"state/backend.fileStack":                   "implements backend.Stack, with a method for each command about states",
	"state/backend/service.stack":               "implements backend.Stack and its extensions for the service",
	"state/backend/service/internal/api.Client": "a method for each call of the service",
	"stages/standard.Run":                       "assembles the stages of a run: a method for each stage and part",
	"cmd/sluice/internal/terminal.Terminal":     "the only door to the terminal",
}

// declaredType is a declared type of the module.
type declaredType struct {
	name  string
	of    *types.Named
	files []string // that have its methods
}

// declaredTypes returns the types of the module that are not only for tests or measurements. It reads the source, because export data
// does not have all unexported types.
func declaredTypes(t *testing.T) []declaredType {
	t.Helper()
	set := token.NewFileSet()
	loaded, err := loader.Load(&loader.Config{
		Dir: root, Fset: set, Mode: loader.NeedName | loader.NeedFiles | loader.NeedCompiledGoFiles | loader.NeedImports | loader.NeedTypes |
			loader.NeedSyntax | loader.NeedTypesInfo | loader.NeedExportFile,
	}, module+"/...")
	require.NoError(t, err)
	require.Greater(t, len(loaded), 100)
	var all []declaredType
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.PkgPath)
		own := relative(p.PkgPath)
		if slices.Contains([]string{"bench", "docs", "examples", "testing"}, folderOf(own)) {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			declared, is := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !is || declared.IsAlias() {
				continue
			}
			of, is := declared.Type().(*types.Named)
			if !is {
				continue
			}
			files := map[string]bool{}
			for m := range of.Methods() {
				files[systemless(set.Position(m.Pos()).Filename)] = true
			}
			all = append(all, declaredType{own + "." + name, of, slices.Sorted(maps.Keys(files))})
		}
	}
	return all
}

// systemless returns the name of a file without the suffix of a system, for methods that each system has in a file of its own.
func systemless(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".go")
	for _, system := range []string{"_linux", "_unix", "_windows", "_other"} {
		name = strings.TrimSuffix(name, system)
	}
	return name
}

func TestAReaderFindsTheMethodsOfAType(t *testing.T) {
	all := declaredTypes(t)
	t.Run("because there are few", func(t *testing.T) {
		seen := map[string]bool{}
		for _, d := range all {
			n := ownMethods(d.of)
			if n <= mostMethods {
				continue
			}
			seen[d.name] = true
			if manyMethods[d.name] == "" {
				t.Errorf("%s has %d methods, embedded ones included: divide it, and name its parts", d.name, n)
			}
		}
		for name := range manyMethods {
			if !seen[name] {
				t.Errorf("%s has no more than %d methods: remove it from the list", name, mostMethods)
			}
		}
	})
	t.Run("because they are in one file", func(t *testing.T) {
		for _, d := range all {
			if len(d.files) < 2 {
				continue
			}
			t.Errorf("the methods of %s are in %s", d.name, strings.Join(d.files, ", "))
		}
	})
}

// ownMethods counts the methods of a type, those of embedded types of the module included. A reader does not search libraries here.
func ownMethods(of *types.Named) (n int) {
	set := types.NewMethodSet(types.NewPointer(of))
	if _, is := of.Underlying().(*types.Interface); is {
		set = types.NewMethodSet(of)
	}
	for m := range set.Methods() {
		if from := m.Obj().Pkg(); from != nil && (from.Path() == module || strings.HasPrefix(from.Path(), module+"/")) {
			n++
		}
	}
	return n
}
