package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Only a read after a change of the same object under another name gets what no preview could predict.
func TestReadIsLateAfterAChangeUnderAnotherName(t *testing.T) {
	one, two := urn.New("dev", "p", "", "test:index:Thing", "one"), urn.New("dev", "p", "", "test:index:Thing", "two")
	change := &call{method: providers.MethodUpdate, urn: one, id: "a", begun: 2, end: 4}
	for name, c := range map[string]struct {
		readCall
		late bool
	}{
		"before the change":   {readCall{two, "a", 1}, false},
		"during the change":   {readCall{two, "a", 3}, true},
		"after the change":    {readCall{two, "a", 5}, true},
		"of another object":   {readCall{two, "b", 5}, false},
		"under the same name": {readCall{one, "a", 5}, false},
	} {
		a := &attempt{calls: []*call{change}, reads: []readCall{c.readCall}}
		require.Equal(t, c.late, a.readLate()[c.urn], name)
	}
}
