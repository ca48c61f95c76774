package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// By default there are three layers: when a worker is killed, some stacks are done, some are updated, and some wait.
var stackCount = flag.Int("fleet.stacks", 18, "how many stacks the fleet has whose workers are killed")

// layered returns a fleet in layers of six stacks, or more if there are many: each stack reads two of the layer before, as fleet.yaml declares.
func layered(count, objects int, latency string) map[string]string {
	layer := max(6, count/10)
	files := map[string]string{}
	var b strings.Builder
	b.WriteString("name: layers\nconcurrency: 6\nstacks:\n")
	for i := range count {
		name := fmt.Sprintf("s%03d", i)
		var reads []string
		if i >= layer {
			first := i - i%layer - layer
			reads = []string{fmt.Sprintf("s%03d", first+i%layer), fmt.Sprintf("s%03d", first+(i+1)%layer)}
		}
		fmt.Fprintf(&b, "  %s: {directory: stacks/%s, stack: dev, needs: [%s]}\n", name, name, strings.Join(reads, ", "))
		files["stacks/"+name+"/Pulumi.yaml"] = strings.ReplaceAll(program(name, objects, latency, reads...), "../../cloud", "../../../cloud")
	}
	files["fleet.yaml"] = b.String()
	return files
}

// runningWorker is a worker that is killed at some time.
type runningWorker struct {
	c    *exec.Cmd
	text bytes.Buffer
}

func (p *place) startWorker() *runningWorker {
	p.t.Helper()
	w := &runningWorker{c: p.command(p.t.Context(), "sluice-fleet", "worker", "--concurrency", "3")}
	w.c.Stdout, w.c.Stderr = &w.text, &w.text
	require.NoError(p.t, w.c.Start())
	return w
}

func (w *runningWorker) kill() {
	_ = w.c.Process.Signal(syscall.SIGKILL)
	_ = w.c.Wait() // it was killed
}

// Workers are killed every few seconds and the server twice, during slow updates of stacks. Every stack is then as after sequential updates, every
// object exists once, and the run has not been lost.
func TestAFleetSurvivesKilledWorkersAndServers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, layered(*stackCount, 3, "500ms"))
	workers := []*runningWorker{p.startWorker(), p.startWorker(), p.startWorker()}
	defer func() {
		for _, w := range workers {
			w.kill()
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), longest+time.Duration(*stackCount)*6*time.Second)
	defer cancel()
	var out bytes.Buffer
	up := p.command(ctx, "sluice-fleet", "up", "--yes", "--no-worker", "--assume-not-created")
	up.Stdout, up.Stderr = &out, &out
	require.NoError(t, up.Start())
	ended := make(chan error, 1)
	go func() { ended <- up.Wait() }()
	var err error
	kills, servers := 0, 0
	for over := false; !over; {
		select {
		case err = <-ended:
			over = true
		case <-time.After(4 * time.Second):
			if kills >= 5+*stackCount/5 { // the run ends in a bounded time
				continue
			}
			i := kills % len(workers)
			workers[i].kill()
			if kills >= 4*servers+2 && p.signalServer(os.Kill) {
				servers++
			}
			workers[i] = p.startWorker()
			kills++
		}
	}
	require.NoError(t, ctx.Err(), "it takes too long:\n%s", &out)
	require.NoError(t, err, "%s", &out)
	require.Greater(t, kills, 2)
	// A worker that is killed after everything is done and recorded leaves nothing to do.
	require.Equal(t, *stackCount, endings(out.String()), "%s", &out)
	require.Positive(t, servers)
	t.Logf("%d kills of workers, %d of servers; attempts after the first: %d", kills, servers, len(lines(out.String(), "attempt ")))

	// The same stacks in sequence.
	q := newPlace(t, layered(*stackCount, 3, "0s"))
	for i := range *stackCount {
		folder := fmt.Sprintf("stacks/s%03d", i)
		out, status := q.run("sluice", "-C", folder, "stack", "init", "--no-select", "dev")
		require.Equal(t, 0, status, out)
		out, status = q.run("sluice", "-C", folder, "up", "--stack", "dev", "--yes", "--skip-preview")
		require.Equal(t, 0, status, out)
	}
	require.Equal(t, q.objects("cloud"), p.objects("cloud"))
	require.Len(t, p.objects("cloud"), 3**stackCount)
	compared := pool.New().WithMaxGoroutines(4)
	for i := range *stackCount {
		compared.Go(func() { sameStack(t, p, q, fmt.Sprintf("stacks/s%03d", i)) })
	}
	compared.Wait()
	locks, err := filepath.Glob(filepath.Join(p.root, "state/.pulumi/locks/organization/*/*/*.json"))
	require.NoError(t, err)
	require.Empty(t, locks)
	require.Contains(t, p.fleet("up", "--yes"), fmt.Sprintf("%d unchanged", *stackCount))
}

// sameStack reports differences from a place where stacks were updated in sequence.
func sameStack(t *testing.T, p, q *place, folder string) {
	want, _ := q.outputs(t, folder)
	got, state := p.outputs(t, folder)
	assert.Equal(t, want, got, folder)
	assert.NotContains(t, state, "pending_operations")
	assert.Equal(t, 3, strings.Count(state, `"type": "sim:index:Resource"`), folder)
}

// outputs returns the outputs of a stack, and its exported state.
func (p *place) outputs(t *testing.T, folder string) (outputs map[string]any, state string) {
	state, status := p.run("sluice", "-C", folder, "stack", "export", "--stack", "dev")
	assert.Equal(t, 0, status, state)
	var is struct {
		Deployment struct {
			Resources []struct {
				Type    string
				Outputs map[string]any
			}
		}
	}
	assert.NoError(t, json.Unmarshal([]byte(state), &is), state)
	for _, r := range is.Deployment.Resources {
		if r.Type == "pulumi:pulumi:Stack" {
			outputs = r.Outputs
		}
	}
	assert.Contains(t, outputs, "address", folder)
	return outputs, state
}

// endings returns how many stacks have succeeded or were unchanged, from the last line of a run.
func endings(out string) int {
	sum := 0
	for _, m := range regexp.MustCompile(`(?m)^(\d+) succeeded(?:, (\d+) unchanged)? in `).FindAllStringSubmatch(out, -1) {
		for _, number := range m[1:] {
			n, _ := strconv.Atoi(number) // 0 if it is missing
			sum += n
		}
	}
	return sum
}

// The command that has begun a run is killed; the same command continues the run.
func TestARunOutlivesItsCommand(t *testing.T) {
	t.Parallel()
	p := newPlace(t, layered(7, 1, "3s"))
	c := p.command(t.Context(), "sluice-fleet", "up", "--yes", "--assume-not-created")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool { return begun(p) }, longest, 100*time.Millisecond)
	require.NoError(t, c.Process.Kill())
	_ = c.Wait() // it was killed
	text := p.fleet("up", "--yes", "--assume-not-created")
	require.Contains(t, text, "goes on:")
	require.Contains(t, text, "7 succeeded")
	require.Len(t, p.objects("cloud"), 7)
	// The server lists the end of a run a moment after it.
	require.Eventually(t, func() bool { return len(lines(p.fleet("history"), "completed")) == 1 }, longest, 100*time.Millisecond)
	require.Len(t, lines(p.fleet("history"), "layers/up/"), 1)
}

// begun reports whether the update of the first stack has begun.
func begun(p *place) bool {
	journals, _ := filepath.Glob(filepath.Join(p.root, "state/.pulumi/sluice/journal/*/*.jnl"))
	return len(journals) > 0
}

func TestAnInterruptEndsWhatHasBegunAndBeginsNothingElse(t *testing.T) {
	t.Parallel()
	p := newPlace(t, layered(7, 1, "3s"))
	c := p.command(t.Context(), "sluice-fleet", "up", "--yes", "--concurrency", "2")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool { return begun(p) }, longest, 100*time.Millisecond)
	require.NoError(t, c.Process.Signal(os.Interrupt))
	_ = c.Wait() // its status is checked
	require.Equal(t, 8, c.ProcessState.ExitCode(), "%s", &out)
	require.Contains(t, out.String(), "stopping: running operations finish, and no others begin")
	require.Contains(t, out.String(), "cancelled  s006: the run was cancelled before it began")
	text := p.fleet("up", "--yes")
	require.NotContains(t, text, "failed")
	require.Len(t, p.objects("cloud"), 7)
}

// A provider whose create does not end gets a Cancel, even if the second interrupt follows at once.
func TestASecondInterruptAborts(t *testing.T) {
	t.Parallel()
	p := newPlace(t, map[string]string{
		"fleet.yaml":      "name: shop\nstacks:\n  net: {directory: net, stack: dev}\n  web: {directory: web, stack: dev, needs: [net]}\n",
		"net/Pulumi.yaml": program("net", 1, "1h"),
		"web/Pulumi.yaml": program("web", 1, "0s"),
	})
	up := p.begin("sluice-fleet", "up", "--yes")
	require.Eventually(t, func() bool { return begun(p) }, longest, 50*time.Millisecond)
	require.NoError(t, up.Process.Signal(os.Interrupt))
	up.says(t, "press ^C again to abort them")
	require.NoError(t, up.Process.Signal(os.Interrupt))
	up.says(t, "aborting")
	up.says(t, "2 cancelled in ")
	_ = up.Wait() // its status is checked
	require.Equal(t, 8, up.ProcessState.ExitCode(), "%s", &up.text)
	require.Contains(t, p.fleet("logs", "net"), "1 aborted")
	require.Empty(t, p.objects("cloud"))
}
