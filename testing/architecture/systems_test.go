package architecture

import (
	"os"
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
	}, module+"/...")
	require.NoError(t, err)
	require.Greater(t, len(loaded), 100)
	for _, p := range loaded {
		require.Empty(t, p.Errors, p.PkgPath)
	}
}
