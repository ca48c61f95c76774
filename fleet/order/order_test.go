package order_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/spec"
)

func stack(name string, needs ...string) spec.Stack {
	return spec.Stack{Name: name, Stack: "dev", Needs: needs}
}

func TestStacksComeAfterWhatTheyNeedAndRead(t *testing.T) {
	o, err := order.Of([]spec.Stack{stack("web", "db"), stack("db"), stack("net")}, map[string]order.Known{
		"web": {Project: "web", Reads: []string{"organization/net/dev", "organization/other/dev"}},
		"db":  {Project: "db", Reads: []string{"net/dev"}},
		"net": {Project: "net"},
	})
	require.NoError(t, err)
	require.Equal(t, [][]string{{"net"}, {"db"}, {"web"}}, o.Layers())
	require.Equal(t, []string{"db", "net"}, o.Needs("web"))
	require.Equal(t, []string{"db", "web"}, o.NeededBy("net"))
	require.Equal(t, map[string]string{"organization/net/dev": "net"}, o.Reads("web"))
	require.Equal(t, []order.Edge{
		{From: "web", To: "db", Why: []string{"needs"}}, {From: "web", To: "net", Why: []string{"reads"}}, {From: "db", To: "net", Why: []string{"reads"}},
	}, o.Edges())
	var dot strings.Builder
	require.NoError(t, o.DOT(&dot))
	require.Contains(t, dot.String(), `"web"`)
}

func TestACycleIsAPath(t *testing.T) {
	_, err := order.Of([]spec.Stack{stack("a", "b"), stack("b"), stack("c", "a")}, map[string]order.Known{
		"a": {Project: "a"}, "b": {Project: "b", Reads: []string{"organization/c/dev"}}, "c": {Project: "c"},
	})
	require.ErrorAs(t, err, new(*order.CycleError))
	require.ErrorContains(t, err, "a needs b reads c needs a")
}

func TestReferencesAreMatchedByProjectAndStack(t *testing.T) {
	web := order.Identity{Project: "web", Stack: "dev"}
	for reference, matches := range map[string]bool{
		"dev": true, "web/dev": true, "acme/web/dev": true, "prod": false, "net/dev": false, "a/b/web/dev": false, "": false,
	} {
		require.Equal(t, matches, web.Matches(reference, "web"), reference)
	}
	require.False(t, web.Matches("dev", "net"))
}

func TestWhatIsNotSelectedIsNoEdge(t *testing.T) {
	o, err := order.Of([]spec.Stack{stack("web", "db")}, nil)
	require.NoError(t, err)
	require.Empty(t, o.Needs("web"))
}
