package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

// waves returns the deletion waves of a preview. Those of a delete-before-replace are under the name of its root.
func (a *attempt) waves() string {
	var out []string
	for _, e := range a.events {
		if w, ok := e.(stages.DeletionWaves); ok {
			out = append(out, fmt.Sprintf("%s: %s", w.Root, w.Waves))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
