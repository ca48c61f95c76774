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

// mostMethods is the maximum number of methods of a type, those of embedded types included: what a reader of x.Method has to search.
const mostMethods = 30

// manyMethods lists the types with more methods, and why.
var manyMethods = map[string]string{
	"property.Map":                              "a value of the public vocabulary",
	"property.Value":                            "a value of the public vocabulary",
	"state/backend.fileStack":                   "implements backend.Stack, with a method for each command about states",
	"state/backend/service.stack":               "implements backend.Stack and its extensions for the service",
	"state/backend/service/internal/api.Client": "a method for each call of the service",
	"stages/internal/rooms.Rooms":               "questions that need several rooms, such as which resources depend on one",
	"stages/standard.Run":                       "assembles the stages of a run: a method for each stage and part",
	"cmd/sluice/internal/terminal.Terminal":     "the only door to the terminal",
	"cmd/sluice/internal/workspace.StackFile":   "a method for each setting of the file",
	"cmd/sluice/internal/display.stepPrinter":   "prints the steps of a run",
	"cmd/sluice/internal/display.Log":           "a method for each kind of event",
	"cmd/sluice/internal/display.Report":        "a method for each section of the report",
	"cmd/sluice/internal/display/live.Screen":   "embeds display.Report",
}

// severalFiles lists the types whose methods are in several files, because one file would be too long to read.
var severalFiles = []string{
	"cmd/sluice/internal/display.stepPrinter", "cmd/sluice/internal/workspace.StackFile",
}

// named calls f for each declared type of the module that is not only for tests or measurements.
func named(t *testing.T, f func(name string, of *types.Named, files []string)) {
	t.Helper()
	set := token.NewFileSet()
	loaded, err := loader.Load(&loader.Config{
		Dir: root, Fset: set, Mode: loader.NeedName | loader.NeedTypes | loader.NeedImports | loader.NeedExportFile,
	}, module+"/...")
	require.NoError(t, err)
	require.Greater(t, len(loaded), 100)
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
			f(own+"."+name, of, slices.Sorted(maps.Keys(files)))
		}
	}
}

// systemless returns the name of a file without the suffix of a system, for methods that each system has in a file of its own.
func systemless(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".go")
	for _, system := range []string{"_linux", "_unix", "_windows", "_other"} {
		name = strings.TrimSuffix(name, system)
	}
	return name
}

func TestTypesHaveFewMethods(t *testing.T) {
	seen := map[string]bool{}
	named(t, func(name string, of *types.Named, _ []string) {
		n := types.NewMethodSet(types.NewPointer(of)).Len()
		if _, is := of.Underlying().(*types.Interface); is {
			n = types.NewMethodSet(of).Len()
		}
		if n <= mostMethods {
			return
		}
		seen[name] = true
		if manyMethods[name] == "" {
			t.Errorf("%s has %d methods, embedded ones included: divide it, and name its parts", name, n)
		}
	})
	for name := range manyMethods {
		if !seen[name] {
			t.Errorf("%s has no more than %d methods: remove it from the list", name, mostMethods)
		}
	}
}

func TestTheMethodsOfATypeAreInOneFile(t *testing.T) {
	seen := map[string]bool{}
	named(t, func(name string, _ *types.Named, files []string) {
		if len(files) < 2 {
			return
		}
		seen[name] = true
		if !slices.Contains(severalFiles, name) {
			t.Errorf("the methods of %s are in %s", name, strings.Join(files, ", "))
		}
	})
	for _, name := range severalFiles {
		if !seen[name] {
			t.Errorf("the methods of %s are in one file: remove it from the list", name)
		}
	}
}
