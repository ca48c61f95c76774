//go:build linux || darwin

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/postgres"
	"github.com/sluice-iac/sluice/testing/postgrestest"
)

// stopping is a store whose process is stopped when it is about to write for the first time.
type stopping struct {
	*postgres.Store
	stopped bool
}

func (s *stopping) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	if !s.stopped {
		s.stopped = true
		// The signal stops the process, but this thread may go on for a moment, and would write.
		continued, done := signal.NotifyContext(ctx, syscall.SIGCONT)
		defer done()
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return store.Info{}, err
		}
		<-continued.Done()
	}
	return s.Store.Write(ctx, key, content, c)
}

func TestTheSessionThatHoldsALockIsEndedByName(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	if url := os.Getenv("SLUICE_TEST_STOPPING"); url != "" {
		s, err := postgres.Open(ctx, url, nil)
		require.NoError(t, err)
		_, err = lock.Acquire(ctx, lock.Options{Store: &stopping{Store: s.(*postgres.Store)}, Folder: ".pulumi/locks/organization/demo/dev"})
		require.ErrorContains(t, err, "the lock was lost before anything began")
		return
	}
	url := postgrestest.Start(t)
	dir := t.TempDir()
	sluice := filepath.Join(dir, "sluice")
	linkSluice(t, sluice)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), []byte("name: demo\nruntime: yaml\noutputs:\n  a: 1\n"), 0o644))
	command := func(backend string, args ...string) (*exec.Cmd, *strings.Builder) {
		cmd := exec.Command(sluice, append(args, "--non-interactive")...)
		out := &strings.Builder{}
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
		cmd.Env = append(os.Environ(), "HOME="+dir+"/home", "PULUMI_HOME="+dir+"/home/.pulumi", "PULUMI_BACKEND_URL="+backend, "PULUMI_STACK=dev",
			"PULUMI_CONFIG_PASSPHRASE=p")
		return cmd, out
	}
	run := func(status int, backend string, args ...string) string {
		t.Helper()
		cmd, out := command(backend, args...)
		_ = cmd.Run() // the exit status is checked below
		require.Equal(t, status, cmd.ProcessState.ExitCode(), "%v\n%s", args, out)
		return out.String()
	}
	run(0, url, "stack", "init", "dev")
	admin, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	_, err = admin.Exec(ctx, `CREATE ROLE ci LOGIN; GRANT ALL ON pulumi_state TO ci`)
	require.NoError(t, err)
	require.NoError(t, admin.Close(ctx))
	ci := strings.Replace(url, "sluice@", "ci@", 1)

	t.Run("before there is a lock file", func(t *testing.T) {
		holder := exec.Command(os.Args[0], "-test.run=^TestTheSessionThatHoldsALockIsEndedByName$")
		holder.Env = append(os.Environ(), "SLUICE_TEST_STOPPING="+url)
		said := &strings.Builder{}
		holder.Stdout, holder.Stderr = said, said
		requireStopped(t, holder)
		pid := fmt.Sprintf("(pid %d)", holder.Process.Pid)

		out := run(9, url, "up", "--yes", "--skip-preview")
		require.Contains(t, out, "the stack is currently locked by 1 lock(s)")
		require.Contains(t, out, "created by "+lock.Self().Username+"@")
		require.Contains(t, out, pid)
		out = run(1, url, "cancel", "--yes")
		require.Contains(t, out, "has an open session on the server")
		require.Contains(t, out, "--force")
		out = run(1, ci, "cancel", "--yes", "--force")
		require.Contains(t, out, "only a superuser may end the session of one")
		run(9, url, "up", "--yes", "--skip-preview")

		require.Contains(t, run(0, url, "cancel", "--yes", "--force", "--json"), fmt.Sprintf(`"pid": %d`, holder.Process.Pid))
		run(0, url, "up", "--yes", "--skip-preview")
		require.NoError(t, holder.Process.Signal(syscall.SIGCONT))
		require.NoError(t, holder.Wait(), "%s", said)
		require.Contains(t, run(0, url, "cancel", "--yes"), "is not locked")
	})
	t.Run("afterwards", func(t *testing.T) {
		// The editor stops the command that has started it, and itself: both are in one process group.
		editor := filepath.Join(dir, "editor")
		require.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nkill -STOP 0\n"), 0o755))
		holder, said := command(ci, "state", "edit", "--yes")
		holder.Env = append(holder.Env, "EDITOR="+editor, "VISUAL="+editor)
		holder.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		requireStopped(t, holder)

		require.Contains(t, run(9, url, "up", "--yes", "--skip-preview"), "for state; the process is running")
		require.Contains(t, run(1, url, "cancel", "--yes"), "is running on this machine")
		out := run(0, url, "cancel", "--yes", "--force")
		require.Regexp(t, fmt.Sprintf(`Ended the session of \S+ \(pid %d\) on the server: session \d+ of the role ci\.`, holder.Process.Pid), out)
		require.Contains(t, out, "Removed 1 lock of stack")
		run(0, url, "up", "--yes", "--skip-preview")
		require.NoError(t, syscall.Kill(-holder.Process.Pid, syscall.SIGCONT))
		_ = holder.Wait() // it has changed nothing, so its result does not matter
		require.Contains(t, run(0, url, "cancel", "--yes"), "is not locked", said)
	})
}

// requireStopped starts a command and waits until it stops itself.
func requireStopped(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended unless the test fails
	var status syscall.WaitStatus
	_, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "%s", cmd.Stdout)
}
