//go:build !windows

package plugin_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/stretchr/testify/require"
)

// script writes a plugin that is a shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pulumi-resource-script")
	require.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755))
	return file
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// ended waits until init has collected a killed orphan.
func ended(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		if !alive(pid) {
			return true
		}
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 5*time.Minute, 10*time.Millisecond)
}

func TestWhatAPluginStartedEndsWithIt(t *testing.T) {
	for name, stop := range map[string]func(*plugin.Process){
		"killed": (*plugin.Process).Kill, "stopped": (*plugin.Process).Stop,
		"died": func(p *plugin.Process) { _ = syscall.Kill(p.PID(), syscall.SIGKILL); p.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			child := 0
			p, err := plugin.Start(plugin.Command{
				Name: "script", Executable: script(t, "sleep 10000 &\necho 1234\necho $! \necho complaint >&2\nwait\n"),
				Output: func(l plugin.Line) {
					mu.Lock()
					defer mu.Unlock()
					if !l.Stderr {
						child, _ = strconv.Atoi(l.Text)
					}
				},
			})
			require.NoError(t, err)
			port, err := p.Port(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1234, port)
			require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return child != 0 }, 5*time.Minute, time.Millisecond)
			require.True(t, alive(child))
			stop(p)
			require.Error(t, p.Exited())
			ended(t, child)
		})
	}
}
