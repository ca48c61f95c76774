package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// call runs callEngine as a user.
func call(t *testing.T, uid int, address string) string {
	t.Helper()
	cmd := exec.Command("/proc/self/exe") // another user may not enter the folder of this binary
	cmd.Args = []string{"callengine", address}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid), NoSetGroups: uid != 0}}
	if os.Geteuid() == uid {
		cmd.SysProcAttr = nil
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// listeningSockets returns the listening sockets of a process: the addresses of TCP, in the notation of the system, and the
// paths of other sockets.
func listeningSockets(t *testing.T, pid int) (ports, paths []string) {
	t.Helper()
	proc := "/proc/" + strconv.Itoa(pid)
	links, err := filepath.Glob(proc + "/fd/*")
	require.NoError(t, err)
	own := map[string]bool{}
	for _, link := range links {
		target, _ := os.Readlink(link) // it may be closed by now
		if inode, is := strings.CutPrefix(target, "socket:["); is {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		for _, f := range tableOf(proc + "/net/" + table) {
			if own[f[9]] && f[3] == "0A" {
				ports = append(ports, f[1])
			}
		}
	}
	for _, f := range tableOf(proc + "/net/unix") {
		if own[f[6]] && f[3] == "00010000" { // it accepts connections
			paths = append(paths, f[7])
		}
	}
	return ports, paths
}

// tableOf returns the lines of a table of the system without its heading. A missing table has none.
func tableOf(path string) (lines [][]string) {
	text, _ := os.ReadFile(path)
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i > 0 {
			lines = append(lines, strings.Fields(line))
		}
	}
	return lines
}

// address parses an address of a table, which must be one of the loopback interface.
func address(t *testing.T, written string) string {
	t.Helper()
	ip, text, _ := strings.Cut(written, ":")
	require.Contains(t, []string{"0100007F", "7F000001"}, ip)
	port, err := strconv.ParseUint(text, 16, 16)
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// heldUpdate begins an update of a Go program with a plugin, which waits during its only create. finish lets the plugin go
// on, waits for the end of the update, which must succeed, and returns the output.
func (a *arena) heldUpdate() (engine int, finish func() string) {
	released := a.dir + "/released"
	a.run(0, "config", "set", "simple:waitOn", "create")
	a.run(0, "config", "set", "simple:waitFor", released)
	a.run(0, "config", "set", "count", "1")
	cmd, text := a.command("up", "--yes", "--skip-preview")
	require.NoError(a, cmd.Start())
	a.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(a, func() bool {
		journal, _ := os.ReadFile(a.states.dir + "/.pulumi/sluice/journal/demo/dev.jnl") // there is none at first
		return strings.Contains(string(journal), "thing-0")
	}, patience, 5*time.Millisecond, "%s", text)
	return cmd.Process.Pid, func() string {
		require.NoError(a, os.WriteFile(released, nil, 0o600))
		require.NoError(a, cmd.Wait(), "%s", text)
		require.Len(a, a.cloud(), 1)
		return text.String()
	}
}

// Otherwise any local user could call the monitor during an update, and make the engine's user run commands.
func TestOtherUsersCannotCallTheEngine(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can start a process of another user")
	}
	a := newArena(t)
	engine, finish := a.heldUpdate()
	var ports, own []string
	require.Eventually(t, func() bool {
		ports, _ = listeningSockets(t, engine)
		return len(ports) == 2 // the Engine service, and the monitor as soon as the create gets its address
	}, patience, 5*time.Millisecond)
	for _, port := range ports {
		at := address(t, port)
		require.Equal(t, "monitor: Unavailable, engine: Unavailable", call(t, 65534, at))
		own = append(own, call(t, 0, at))
	}
	require.ElementsMatch(t, []string{"monitor: OK, engine: Unimplemented", "monitor: Unimplemented, engine: OK"}, own)
	out := finish()
	require.Equal(t, 2, strings.Count(out, "was refused: 127.0.0.1:"), "once for each service: %s", out)
	require.Contains(t, out, "(uid 65534)")
}

// A program in Go or Node.js calls the engine at sockets that only the engine's user can open, and that are removed.
func TestProgramsThatCanGetASocket(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	engine, finish := a.heldUpdate()
	_, paths := listeningSockets(t, engine)
	require.Len(t, paths, 2, "the monitor and the Engine service")
	programs := running(a.program)
	require.Len(t, programs, 1)
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", programs[0]))
	require.NoError(t, err)
	for _, path := range paths {
		require.Contains(t, string(environment), "=unix://"+path+"\x00")
		for of, want := range map[string]os.FileMode{path: os.ModeSocket | 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
			info, err := os.Stat(of)
			require.NoError(t, err)
			require.Equal(t, want, info.Mode(), of)
		}
	}
	finish()
	for _, path := range paths {
		require.NoDirExists(t, filepath.Dir(path))
	}
}

// Code in the engine's process needs no port: nothing listens while a YAML program runs a command.
func TestAYAMLProgramOpensNoPort(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	engine := a.slowCreate("61.73")
	ports, paths := listeningSockets(t, engine)
	require.Empty(t, ports)
	require.Empty(t, paths)
}
