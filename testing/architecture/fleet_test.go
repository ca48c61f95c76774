package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fleetRooms lists the packages of the fleet module, from the top to the bottom: each may import those after it.
var fleetRooms = []string{"e2e", "cmd/sluice-fleet", "report", "watch", "worker", "run", "order", "spec", "server", "seal"}

// ofFleets lists the packages of the engine that the fleet module may import.
var ofFleets = []string{"graph", await, processes, private, wholeFiles, builds, documents, manuals, printables, "cloud", "state", "state/secrets"}

const fleetModule = module + "/fleet/"

// The engine stays small: only the module of fleets depends on Temporal.
func TestTheEngineKnowsNothingOfFleets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "temporal")
	require.NotContains(t, string(text), fleetModule)
}

func TestPackagesOfFleetsImportThoseBelowThem(t *testing.T) {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = filepath.Join(root, "fleet")
	out, err := cmd.Output()
	require.NoError(t, err)
	count := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name := strings.TrimPrefix(words[0], fleetModule)
		floor := slices.Index(fleetRooms, name)
		require.GreaterOrEqual(t, floor, 0, "package %s has no floor", name)
		count++
		for _, i := range words[1:] {
			if below, ours := strings.CutPrefix(i, fleetModule); ours {
				require.Less(t, floor, slices.Index(fleetRooms, below), "package %s must not import %s", name, below)
			} else if own := relative(i); own != "" {
				require.Contains(t, ofFleets, own, "package %s", name)
			}
		}
	}
	require.Equal(t, len(fleetRooms), count)
}
