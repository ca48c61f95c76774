//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/platform/process"
)

// processesWith lists the processes whose command lines contain a text.
func processesWith(text string) []int {
	return processes(func(pid int) bool {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && strings.Contains(string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})), text)
	})
}

// slowCreate begins an update whose only resource sleeps for hours in its create, and returns the engine's PID once that
// sleeps and has a guard. The create would leave the file "made".
func (a *arena) slowCreate(sleep string) int {
	text := `name: demo
runtime: yaml
resources:
  slow:
    type: command:local:Command
    properties:
      create: touch ` + a.dir + `/begun; sleep ` + sleep + `; touch ` + a.dir + `/made
`
	require.NoError(a, os.WriteFile(a.dir+"/project/Pulumi.yaml", []byte(text), 0o644))
	cmd, out := a.command("up", "--yes", "--skip-preview")
	require.NoError(a, cmd.Start())
	a.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(a, func() bool {
		_, err := os.Stat(a.dir + "/begun")
		return err == nil && len(processesWith("sleep "+sleep)) > 0 && slices.ContainsFunc(below(cmd.Process.Pid), isGuard)
	}, patience, 10*time.Millisecond, "%s", out)
	return cmd.Process.Pid
}

func (a *arena) ended(what string) {
	a.Helper()
	require.Eventually(a, func() bool { return len(processesWith(what)) == 0 }, patience, 10*time.Millisecond)
	require.NoFileExists(a, a.dir+"/made")
}

// A command ends with its killed engine, because nothing would record its effects.
func TestCommandsEndWithTheEngine(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	engine := a.slowCreate("9061.71")
	require.NoError(t, syscall.Kill(engine, syscall.SIGKILL))
	a.ended("sleep 9061.71")
	a.run(0, "recover", "--assume-not-created")
	require.NoFileExists(t, a.dir+"/made")
}

// The same holds if the guard of the command is killed before the engine: the process that takes over the lock ends the
// command, with a message.
func TestWhoTakesOverEndsWhatADeadEngineHasLeft(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	engine := a.slowCreate("9061.72")
	require.NoError(t, syscall.Kill(engine, syscall.SIGSTOP)) // it starts no other guard
	guards := slices.DeleteFunc(below(engine), func(child int) bool { return !isGuard(child) })
	require.NotEmpty(t, guards)
	killAll(guards)
	require.NoError(t, syscall.Kill(engine, syscall.SIGKILL))
	// While a process ends, it has no program any more before the system says that it has ended.
	require.Eventually(t, func() bool { return slices.Contains([]string{"", "ended"}, process.StartOf(engine)) }, patience, 10*time.Millisecond)
	require.NotEmpty(t, processesWith("sleep 9061.72"), "the command works on")
	out := a.run(0, "stack")
	require.Contains(t, out, "died and left others that went on working; they were ended: sh (pid ")
	a.ended("sleep 9061.72")
}

// A plugin ends with its engine during a create.
func TestPluginsEndWithTheEngine(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	a.run(0, "config", "set", "simple:hangOn", "create")
	a.run(0, "config", "set", "count", "1")
	cmd, out := a.command("up", "--yes", "--skip-preview")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		journal, _, _ := a.states.store.Read(t.Context(), ".pulumi/sluice/journal/demo/dev.jnl") // there is none at first
		return len(running(a.plugin)) > 0 && bytes.Contains(journal, []byte("thing-0"))
	}, patience, 5*time.Millisecond, "%s", out)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return len(running(a.plugin)) == 0 }, patience, 5*time.Millisecond)
	a.run(0, "recover", "--assume-not-created")
	require.Empty(t, a.cloud(), "nothing is left that could create it")
	require.Empty(t, a.state().pending)
}
