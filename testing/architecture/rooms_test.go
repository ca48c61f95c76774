package architecture

import (
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	loader "golang.org/x/tools/go/packages"
)

const roomsPackage = module + "/stages/internal/rooms"

// The table of rooms in docs/architecture.md lists every writer of package rooms with the types that have it as a field, and no others.
func TestRoomsHaveTheWritersThatTheArchitectureLists(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/architecture.md"))
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\|[^|]*\\|[^|]*\\| `(\\w+)` \\|([^|]*)\\|$")
	holder := regexp.MustCompile("`(\\w+\\.\\w+)`")
	documented := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = []string{}
		for _, h := range holder.FindAllStringSubmatch(m[2], -1) {
			documented[m[1]] = append(documented[m[1]], h[1])
		}
		slices.Sort(documented[m[1]])
	}
	require.Equal(t, writersOfRooms(t), documented)
}

// writersOfRooms maps the writers of rooms to the types that have them as fields. A type that has a struct of writers has each of them. The run
// itself, which passes the writers on, is left out.
func writersOfRooms(t *testing.T) map[string][]string {
	t.Helper()
	const source = loader.NeedCompiledGoFiles | loader.NeedSyntax | loader.NeedTypesInfo // for unexported types
	mode := loader.NeedName | loader.NeedTypes | loader.NeedImports | loader.NeedExportFile | source
	loaded, err := loader.Load(&loader.Config{Dir: root, Mode: mode}, module+"/stages/...")
	require.NoError(t, err)
	out, sets := map[string][]string{}, map[string][]string{}
	for _, p := range loaded {
		require.Empty(t, p.Errors)
		if p.PkgPath != roomsPackage {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			s, is := p.Types.Scope().Lookup(name).Type().Underlying().(*types.Struct)
			switch {
			case !is:
			case strings.HasSuffix(name, "Writer"), strings.HasSuffix(name, "Opener"):
				out[name] = []string{}
			case strings.HasSuffix(name, "Writers"):
				for f := range s.Fields() {
					sets[name] = append(sets[name], inRooms(f.Type()))
				}
			}
		}
	}
	require.NotEmpty(t, out)
	for _, p := range loaded {
		if p.PkgPath == roomsPackage {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			s, is := p.Types.Scope().Lookup(name).Type().Underlying().(*types.Struct)
			if !is || p.Types.Name() == "standard" && name == "Run" {
				continue
			}
			for f := range s.Fields() {
				of := inRooms(f.Type())
				for _, writer := range append(sets[of], of) {
					if holders, known := out[writer]; known {
						out[writer] = append(holders, p.Types.Name()+"."+name)
					}
				}
			}
		}
	}
	for _, holders := range out {
		slices.Sort(holders)
	}
	return out
}

// inRooms returns the name of a type of package rooms, or of a pointer to one; "" for other types.
func inRooms(t types.Type) string {
	if p, is := t.(*types.Pointer); is {
		t = p.Elem()
	}
	n, is := t.(*types.Named)
	if !is || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != roomsPackage {
		return ""
	}
	return n.Obj().Name()
}
