package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A stack that prints without end does not fill the memory or the disk of its worker, and does not run twice.
func TestAStackThatPrintsALotIsBounded(t *testing.T) {
	t.Parallel()
	const megabytes = 300
	files := three()
	files["fleet.yaml"] = "name: shop\nstacks:\n  loud: {directory: loud, stack: dev}\n"
	files["loud/Pulumi.yaml"] = "name: loud\nruntime: yaml\nresources:\n  loud:\n    type: command:local:Command\n    properties:\n" +
		"      create: \"echo once >> ../times; yes $(printf %8000s x | tr ' ' x) | head -c " + strconv.Itoa(megabytes<<20) + "\"\noutputs: {said: \"${loud.stdout}\"}\n"
	p := newPlace(t, files)
	up := p.begin("sluice-fleet", "up", "--yes")
	largest := int64(0)
	for up.ProcessState == nil && !strings.Contains(up.text.String(), " in ") {
		found, _ := filepath.Glob(p.path(".sluice-fleet/runs/*/loud.*/events-*.jsonl"))
		for _, f := range found {
			if info, err := os.Stat(f); err == nil {
				largest = max(largest, info.Size())
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	require.NoError(t, up.Wait(), "%s", &up.text)
	require.Contains(t, up.text.String(), "1 succeeded")
	usage, is := up.ProcessState.SysUsage().(*syscall.Rusage)
	require.True(t, is)
	require.Less(t, usage.Maxrss, int64(600<<10), "kilobytes of memory, of this process and of sluice")
	// Besides messages, the log has the output twice, as recorded in the resource and in the stack.
	require.Less(t, largest, int64(64<<20+8*16<<20), "bytes of events")
	times, err := os.ReadFile(p.path("times"))
	require.NoError(t, err)
	require.Equal(t, "once\n", string(times))
	logs, err := filepath.Glob(p.path(".sluice-fleet/runs/*/loud.log"))
	require.NoError(t, err)
	require.Len(t, logs, 1)
	info, err := os.Stat(logs[0])
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(65<<20))
	require.Contains(t, p.fleet("logs", "loud"), "has printed more to stdout than is recorded")
}

// The server is killed again and again while a stack is updated. The command waits for the next server, and does not
// give up.
func TestAFleetGoesOnHoweverOftenItsServerIsKilled(t *testing.T) {
	t.Parallel()
	files := three()
	files["net/Pulumi.yaml"] = gated(program("net", 1, "0s"))
	p := newPlace(t, files)
	up := p.begin("sluice-fleet", "up", "--yes")
	require.Eventually(t, func() bool { return begun(p) }, longest, 50*time.Millisecond)
	for range 6 {
		before := p.serverPID()
		require.True(t, p.signalServer(os.Kill))
		require.Eventually(t, func() bool { now := p.serverPID(); return now != 0 && now != before }, longest, 50*time.Millisecond)
	}
	p.openGate()
	require.NoError(t, up.Wait(), "%s", &up.text)
	// An attempt that ended while there was no server is repeated, and has nothing to do.
	require.Equal(t, 3, endings(up.text.String()), "%s", &up.text)
	require.NotContains(t, up.text.String(), "error:")
	require.Len(t, p.objects("cloud"), 3)
}
