package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
)

// begunCommand is a running command.
type begunCommand struct {
	*exec.Cmd
	text lockedText
}

// lockedText may be read during writes.
type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (p *place) begin(args ...string) *begunCommand {
	p.t.Helper()
	b := &begunCommand{Cmd: p.command(p.t.Context(), args...)}
	b.Stdout, b.Stderr = &b.text, &b.text
	require.NoError(p.t, b.Start())
	p.t.Cleanup(func() { _ = b.Process.Kill() }) // only a failed test leaves it running
	return b
}

// connect connects with the server of the place.
func (p *place) connect() client.Client {
	p.t.Helper()
	h, err := server.HomeOf(p.path("."))
	require.NoError(p.t, err)
	joined, err := server.Join(p.t.Context(), h, "nothing")
	require.NoError(p.t, err)
	p.t.Cleanup(func() { require.NoError(p.t, joined.Close()) })
	c, err := server.Connect(p.t.Context(), joined.Options(server.Client), converter.GetDefaultDataConverter(), temporal.GetDefaultFailureConverter(), server.Silent{})
	require.NoError(p.t, err)
	p.t.Cleanup(c.Close)
	return c
}

// one has two stacks of one account, of which only one runs at a time. The first one does not end before its gate is opened.
func one() map[string]string {
	return map[string]string{
		"fleet.yaml":    "name: shop\nlimits: {account: {stacks: 1, changes: 3}}\nstacks:\n  a: {directory: a, stack: dev, limits: [account]}\n  b: {directory: b, stack: dev, limits: [account]}\n",
		"a/Pulumi.yaml": gated(program("a", 1, "0s")),
		"b/Pulumi.yaml": program("b", 1, "0s"),
	}
}

// gated returns a program whose update goes on until [place.openGate].
func gated(program string) string {
	return strings.Replace(program, "resources:\n",
		"resources:\n  gate:\n    type: command:local:Command\n    properties: {create: \"until test -e ../open; do sleep 0.1; done\"}\n", 1)
}

func (p *place) openGate() { p.write(map[string]string{"open": ""}) }

// says waits until a command has printed a text.
func (b *begunCommand) says(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(b.text.String(), text) }, longest, 50*time.Millisecond, "%q is not printed", text)
}

func TestALimitHoldsAcrossRuns(t *testing.T) {
	t.Parallel()
	p := newPlace(t, one())
	first := p.begin("sluice-fleet", "up", "--yes", "--select", "a")
	require.Eventually(t, func() bool { return begun(p) }, longest, 50*time.Millisecond)
	second := p.begin("sluice-fleet", "up", "--yes", "--select", "b")
	second.says(t, "b: waits for the limit account")
	require.LessOrEqual(t, len(p.objects("cloud")), 1, "b has its turn when a is done")
	p.openGate()
	require.NoError(t, first.Wait(), "%s", &first.text)
	require.NoError(t, second.Wait(), "%s", &second.text)
	require.Len(t, p.objects("cloud"), 2)
	require.Contains(t, p.fleet("logs", "b"), "--parallel 3")
}

func TestThePlaceOfATerminatedRunComesBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, one())
	first := p.begin("sluice-fleet", "up", "--yes", "--select", "a")
	require.Eventually(t, func() bool { return begun(p) }, longest, 50*time.Millisecond)
	id, _, _ := strings.Cut(strings.TrimPrefix(lines(p.fleet("history"), "shop/up/")[0], " "), " ")
	c := p.connect()
	require.NoError(t, c.TerminateWorkflow(t.Context(), run.StackID(id, "a"), "", "a test"))
	if err := c.TerminateWorkflow(t.Context(), id, "", "a test"); !errors.As(err, new(*serviceerror.NotFound)) { // it may have ended with its stack
		require.NoError(t, err)
	}
	require.NoError(t, first.Process.Kill())
	_ = first.Wait() // it was killed
	require.Contains(t, p.fleet("up", "--yes", "--select", "b"), "1 succeeded")
}

// A worker runs only the stacks of its queues, and gives each only the variables of its group.
func TestAWorkerWorksForItsGroupAlone(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"fleet.yaml": "name: shop\ngroups:\n  base: {queue: base, stack: dev, environment: [BASE_*]}\n  apps: {queue: apps, stack: dev, environment: [APPS_TOKEN]}\n" +
			"stacks:\n  net: {directory: net, group: base}\n  web: {directory: web, group: apps}\n",
		"net/Pulumi.yaml": program("net", 1, "0s"),
		"web/Pulumi.yaml": program("web", 1, "0s"),
	}
	for name, own := range map[string]string{"net": "BASE_TOKEN", "web": "APPS_TOKEN"} {
		other := map[string]string{"BASE_TOKEN": "APPS_TOKEN", "APPS_TOKEN": "BASE_TOKEN"}[own]
		files[name+"/Pulumi.yaml"] = strings.Replace(files[name+"/Pulumi.yaml"], "resources:\n",
			"resources:\n  says:\n    type: command:local:Command\n    properties: {create: \"echo own=$"+own+" other=$"+other+"\"}\n", 1) + "  says: ${says.stdout}\n"
	}
	p := newPlace(t, files)
	p.env = append(p.env, "BASE_TOKEN=of-base", "APPS_TOKEN=of-apps")
	apps := p.begin("sluice-fleet", "worker", "--queue", "apps")
	up := p.begin("sluice-fleet", "up", "--yes", "--no-worker")
	// The survey of net needs a worker of its queue.
	require.Never(t, func() bool { return begun(p) }, 5*time.Second, 100*time.Millisecond)
	base := p.begin("sluice-fleet", "worker", "--queue", "base")
	require.NoError(t, up.Wait(), "%s", &up.text)
	for _, w := range []*begunCommand{apps, base} {
		_ = w.Process.Kill()
		_ = w.Wait() // it was killed
	}
	for name, want := range map[string]string{"net": "own=of-base other=\n", "web": "own=of-apps other=\n"} {
		out, status := p.run("sluice", "-C", name, "stack", "output", "--stack", "dev", "says")
		require.Equal(t, 0, status, out)
		require.Equal(t, want, out)
	}
}

// Two runs on overlapping stacks: the lock of the stack orders them, and everything exists once.
func TestTwoRunsOnOverlappingStacks(t *testing.T) {
	t.Parallel()
	files := three()
	files["net/Pulumi.yaml"] = gated(program("net", 1, "0s"))
	p := newPlace(t, files)
	first := p.begin("sluice-fleet", "up", "--yes")
	require.Eventually(t, func() bool { return begun(p) }, longest, 50*time.Millisecond)
	second := p.begin("sluice-fleet", "up", "--yes", "--select", "net", "--select", "db")
	second.says(t, "net: waits to try again")
	p.openGate()
	require.NoError(t, first.Wait(), "%s", &first.text)
	require.NoError(t, second.Wait(), "%s", &second.text)
	require.NotContains(t, second.text.String(), "failed")
	require.Len(t, p.objects("cloud"), 3)
	require.Contains(t, p.fleet("up", "--yes"), "3 unchanged")
}

// The second interrupt ends a program that hangs, and no process is left.
func TestAProgramThatHangsIsCanceled(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		"fleet.yaml":        "name: shop\nstacks:\n  hangs: {directory: hangs, stack: dev}\n  other: {directory: other, stack: dev}\n",
		"hangs/Pulumi.yaml": "name: hangs\nruntime: yaml\nvariables:\n  never:\n    fn::invoke: {function: command:local:run, arguments: {command: \"touch ../begun; sleep 600\"}}\noutputs: {never: \"${never.stdout}\"}\n",
		"other/Pulumi.yaml": program("other", 1, "0s"),
	})
	up := p.begin("sluice-fleet", "up", "--yes")
	up.says(t, "succeeded  other")
	require.Eventually(t, func() bool { return exists(p.path("begun")) }, longest, 100*time.Millisecond)
	require.Contains(t, p.fleet("cancel", "--abort"), "stops")
	_ = up.Wait() // its status is checked
	require.Equal(t, 8, up.ProcessState.ExitCode(), "%s", &up.text)
	require.Contains(t, up.text.String(), "cancelled  hangs")
}

// Another worker may have the missing plugin, so the operation is retried; then the missing plugin is reported.
func TestAWorkerWithoutThePlugin(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		"fleet.yaml":      "name: shop\nstacks:\n  app: {directory: app, stack: dev}\n",
		"app/Pulumi.yaml": "name: app\nruntime: yaml\nresources:\n  one:\n    type: nothere:index:Thing\n    options: {pluginDownloadURL: \"file:///nowhere\"}\n",
	})
	out, status := p.run("sluice", "fleet", "up", "--yes")
	require.Equal(t, 1, status, out)
	require.Contains(t, out, "nothere")
}
