package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func three() map[string]string {
	return map[string]string{
		"fleet.yaml":      "name: shop\nstacks:\n  net: {directory: net, stack: dev}\n  db: {directory: db, stack: dev}\n  web: {directory: web, stack: dev, needs: [db]}\n",
		"net/Pulumi.yaml": program("net", 1, "0s"),
		"db/Pulumi.yaml":  program("db", 1, "0s", "net"),
		"web/Pulumi.yaml": program("web", 1, "0s", "net"),
	}
}

func TestAFleetIsMadeLeftAndDestroyed(t *testing.T) {
	t.Parallel()
	p := newPlace(t, three())
	// Nothing is recorded, so it is unknown that db reads net: the order is found during the run.
	out := p.fleet("up", "--yes", "--concurrency", "1", "--report", "../up.md", "--report", "../up.html", "--report", "../up.json")
	require.Contains(t, out, "3 succeeded")
	require.Len(t, p.objects("cloud"), 3)
	for _, name := range []string{"up.md", "up.html", "up.json"} {
		text, err := os.ReadFile(p.path("../" + name))
		require.NoError(t, err)
		require.Contains(t, string(text), "web")
		require.Contains(t, string(text), "succeeded")
	}
	require.Equal(t, "1\n  net\n2\n  db: reads net\n3\n  web: reads net, needs db\n", strings.ReplaceAll(p.fleet("graph"), "needs db, reads net", "reads net, needs db"))

	require.Contains(t, p.fleet("up", "--yes"), "3 unchanged")
	require.Contains(t, p.fleet("preview"), "3 unchanged")
	require.Contains(t, p.fleet("history"), "shop/preview/")

	// A change of a stack without dependents concerns only that stack; a change of outputs concerns their readers.
	p.write(map[string]string{"web/Pulumi.yaml": strings.ReplaceAll(program("web", 1, "0s", "net"), "default: 1", "default: 2")})
	out = p.fleet("up", "--yes")
	require.Contains(t, out, "1 succeeded, 2 unchanged")
	require.Contains(t, out, "web: update 1; the program changed since its last update")
	p.write(map[string]string{"net/Pulumi.yaml": strings.ReplaceAll(program("net", 1, "0s"), "default: 1", "default: 2")})
	out = p.fleet("up", "--yes")
	require.Contains(t, out, "3 succeeded")
	require.Contains(t, out, "db: update 1; the outputs that it reads changed since its last update")

	// A change by hand is detected.
	_, status := p.run("sluice", "-C", "web", "up", "--stack", "dev", "--yes", "--skip-preview", "--config", "size=7")
	require.Equal(t, 0, status)
	require.Contains(t, p.fleet("up", "--yes"), "web: no changes; the settings and what is recorded changed since its last update")

	out = p.fleet("destroy", "--yes")
	require.Contains(t, out, "3 succeeded")
	require.Less(t, strings.Index(out, "succeeded  web"), strings.Index(out, "succeeded  db"))
	require.Less(t, strings.Index(out, "succeeded  db"), strings.Index(out, "succeeded  net"))
	require.Empty(t, p.objects("cloud"))
	require.Contains(t, p.fleet("destroy", "--yes"), "3 unchanged")
}

func TestAPreviewDownstreamHasTheOutputsThatThePlanUpstreamWillHave(t *testing.T) {
	t.Parallel()
	p := newPlace(t, three())
	// No stack has outputs yet.
	out := p.fleet("preview")
	require.Contains(t, out, "3 succeeded")
	require.Contains(t, out, "db: create 3")
	p.fleet("up", "--yes")
	p.write(map[string]string{"net/Pulumi.yaml": strings.ReplaceAll(program("net", 1, "0s"), "default: 1", "default: 2")})
	out = p.fleet("preview")
	require.Contains(t, out, "net: update 1")
	require.Contains(t, out, "db: update 1")
	require.Contains(t, out, "web: update 1")
	_, status := p.run("sluice", "fleet", "preview", "--expect-no-changes")
	require.Equal(t, 7, status)
}

func TestDependentsOfAFailureAreSkippedAndASecondRunDoesWhatIsLeft(t *testing.T) {
	t.Parallel()
	files := three()
	files["db/Pulumi.yaml"] = strings.Replace(files["db/Pulumi.yaml"], "computed: [address]", "computed: [address]\n      fail: [create]", 1)
	p := newPlace(t, files)
	out, status := p.run("sluice", "fleet", "up", "--yes")
	require.Equal(t, 1, status)
	require.Contains(t, out, "1 failed, 1 skipped, 1 succeeded")
	require.Contains(t, out, "skipped    web: needs db, which failed")
	require.Contains(t, p.fleet("logs", "db"), "$ sluice up --stack dev")
	// The server lists the end of a run a moment after it.
	require.Eventually(t, func() bool { return strings.Contains(p.fleet("history"), "1 failed, 1 skipped, 1 succeeded") }, longest, 100*time.Millisecond)
	p.write(map[string]string{"db/Pulumi.yaml": three()["db/Pulumi.yaml"]})
	out = p.fleet("up", "--yes")
	require.Contains(t, out, "2 succeeded, 1 unchanged")
	require.Len(t, p.objects("cloud"), 3)
}

func TestMistakesAndWrongCallsChangeNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, three())
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a selection":   {[]string{"up", "--yes", "--select", "dbb"}, `did you mean "db"?`},
		"nobody to ask": {[]string{"up"}, "without a terminal, give --yes to confirm"},
		"a flag":        {[]string{"up", "--yess"}, "unknown flag: --yess"},
		"no file":       {[]string{"up", "--yes", "-f", "other.yaml"}, "a fleet is described by a file fleet.yaml"},
		"a number":      {[]string{"up", "--yes", "--concurrency", "-3"}, "--concurrency -3: write a whole number from 1 on"},
		"a worker":      {[]string{"worker", "--concurrency", "0"}, "--concurrency 0: write a whole number from 1 on"},
		"a period":      {[]string{"drift", "--since", "yesterday"}, `--since cannot be "yesterday"`},
		"a report":      {[]string{"up", "--yes", "--report", "x.pdf"}, "ends in .html, .md or .json"},
		"a form":        {[]string{"graph", "--format", "png"}, "write text, dot, mermaid or json"},
		"a key":         {[]string{"up", "--yes", "--address", "127.0.0.1:1"}, "there is no key for the server's data"},
	} {
		t.Run(name, func(t *testing.T) {
			out, status := p.run(append([]string{"sluice", "fleet"}, c.args...)...)
			require.Equal(t, 2, status, out)
			require.Contains(t, out, c.want)
		})
	}
	p.write(map[string]string{"fleet.yaml": "name: shop\nstacks:\n  net: {directroy: net}\n"})
	out, status := p.run("sluice", "fleet", "up", "--yes")
	require.Equal(t, 2, status)
	require.Contains(t, out, "fleet.yaml:3:9: a stack has no field \"directroy\"\n   3 |   net: {directroy: net}\n")
	require.Empty(t, p.objects("cloud"))
}

// The example runs as in the manual, in a copy.
func TestTheExampleWorks(t *testing.T) {
	t.Parallel()
	p := newPlace(t, nil)
	require.NoError(t, os.CopyFS(p.path("examples/fleet"), os.DirFS("../../examples/fleet")))
	where := []string{"-C", p.path("examples/fleet")}
	defer func() { _ = os.Rename(p.path("examples/fleet/.sluice-fleet"), p.path(".sluice-fleet")) }() // it is ended there
	out := p.fleet(append(where, "preview")...)
	require.Contains(t, out, "12 succeeded")
	out = p.fleet(append(where, "up", "--yes")...)
	require.Contains(t, out, "12 succeeded")
	require.Contains(t, p.fleet(append(where, "graph")...), "\n  services/web: needs and reads cluster\n")
	require.Contains(t, p.fleet(append(where, "preview")...), "12 unchanged")
	require.Contains(t, p.fleet(append(where, "destroy", "--yes")...), "12 succeeded")
}
