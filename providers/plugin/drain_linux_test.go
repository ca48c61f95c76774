package plugin_test

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// On a busy machine the output of a plugin is read long after its end. All of it is in the error, also if a child that has left the group holds
// the pipe open.
func TestWhatWasWrittenBeforeTheEndIsReadHoweverLate(t *testing.T) {
	for name, child := range map[string]string{"alone": "", "with a child": "setsid sleep 1000 & echo $! >child; "} {
		t.Run(name, func(t *testing.T) {
			var once sync.Once
			var process *plugin.Process
			started := make(chan struct{})
			dir := t.TempDir()
			var err error
			process, err = plugin.Start(plugin.Command{
				Name: "late", Executable: "/bin/sh", Directory: dir, Environment: os.Environ(),
				Args: []string{"-c", child + `i=0; while [ $i -lt 2000 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 3`},
				Output: func(plugin.Line) {
					once.Do(func() {
						<-started
						for ended := false; !ended; time.Sleep(time.Millisecond) {
							_, err := os.Stat(fmt.Sprintf("/proc/%d/exe", process.PID())) // a process that has ended has none
							ended = err != nil
						}
						time.Sleep(400 * time.Millisecond) // longer than the wait for output
					})
				},
			})
			require.NoError(t, err)
			close(started)
			t.Cleanup(func() { endChild(dir + "/child") })
			defer process.Stop()
			require.ErrorContains(t, process.AwaitExit(t.Context()), "line 1999")
		})
	}
}

// endChild ends the process whose PID is in a file, if there is one.
func endChild(file string) {
	text, err := os.ReadFile(file)
	var pid int
	if err != nil {
		return
	}
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		return
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
