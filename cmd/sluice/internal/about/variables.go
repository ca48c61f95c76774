package about

import (
	"os"
	"slices"
	"strings"
)

// variables returns the names of the variables that sluice may read.
func variables() []string {
	out := []string{}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "PULUMI_") || strings.HasPrefix(name, "SLUICE_") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
