package architecture

import (
	"flag"
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	loader "golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "write testdata/exported.txt")

// public lists the packages whose exported identifiers others use. A change of the list of these identifiers is a change of the interface.
var public = []string{
	"", "pipeline", "pipeline/await", "stages", "stages/stagestest", "stages/why", "property", "providers", "providers/providertest", "source", "state", "urn",
	"graph", "advice", "cloud", "host",
}

// After an intended change:
//
//	go test ./testing/architecture -run TestTheInterfaceIsWrittenDown -update
func TestTheInterfaceIsWrittenDown(t *testing.T) {
	golden := filepath.Join("testdata", "exported.txt")
	got := exportedBy(t, public)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "what is exported has changed; if that is meant, write it down with -update")
}

// exportedBy lists the exported identifiers of packages, one on each line.
func exportedBy(t *testing.T, paths []string) string {
	t.Helper()
	var patterns []string
	for _, p := range paths {
		patterns = append(patterns, strings.TrimSuffix(module+"/"+p, "/"))
	}
	loaded, err := loader.Load(&loader.Config{Dir: root, Mode: loader.NeedName | loader.NeedTypes | loader.NeedImports | loader.NeedExportFile}, patterns...)
	require.NoError(t, err)
	require.Len(t, loaded, len(paths))
	byPath := map[string]*types.Package{}
	for _, p := range loaded {
		require.Empty(t, p.Errors)
		byPath[p.PkgPath] = p.Types
	}
	var b strings.Builder
	for _, path := range patterns {
		pkg := byPath[path]
		fmt.Fprintf(&b, "package %s\n", strings.TrimPrefix(path, filepath.Dir(module)+"/"))
		for _, line := range exported(pkg) {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	return b.String()
}

func exported(pkg *types.Package) []string {
	lines := map[string]bool{}
	short := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	}
	add := func(format string, args ...any) { lines[fmt.Sprintf(format, args...)] = true }
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		named, isType := o.(*types.TypeName)
		if !isType {
			add("%s", types.ObjectString(o, short))
			continue
		}
		switch u := named.Type().Underlying().(type) {
		case *types.Struct:
			add("type %s struct", name)
			for f := range u.Fields() {
				if f.Exported() {
					add("type %s struct, %s %s", name, f.Name(), types.TypeString(f.Type(), short))
				}
			}
		default:
			add("%s", types.ObjectString(o, short))
		}
		if types.IsInterface(named.Type()) {
			continue // the line of the type has them
		}
		for m := range types.NewMethodSet(types.NewPointer(named.Type())).Methods() {
			f := m.Obj()
			if f.Exported() && len(m.Index()) == 1 {
				add("method %s", strings.TrimPrefix(types.ObjectString(f, short), "func "))
			}
		}
	}
	return slices.Sorted(maps.Keys(lines))
}
