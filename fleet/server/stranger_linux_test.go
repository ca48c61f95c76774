package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/server"
)

// nobody is a user other than that of the tests.
const nobody = 65534

func pid(t *testing.T, root string) (is server.Place) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, server.FolderName, "server.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &is))
	return is
}

// A killed server leaves its port. A process that listens there next gets no token and no data, and the next server accepts no token of the former
// one.
func TestWhoTakesThePortOfAKilledServerGetsNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can start a process of another user")
	}
	root := folder(t)
	h, err := server.HomeOf(root)
	require.NoError(t, err)
	joined, err := server.Join(t.Context(), h, "serve", root)
	require.NoError(t, err)
	defer func() { require.NoError(t, joined.Close()) }()
	c, err := connect(t, joined.Options(server.Client))
	require.NoError(t, err)
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "a-run-to-look-for", TaskQueue: "q"}, "nothing")
	require.NoError(t, err)

	before := pid(t, root)
	require.NoError(t, syscall.Kill(before.PID, syscall.SIGKILL))
	thief := exec.Command("/proc/self/exe", "eavesdrop", before.Address)
	thief.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := thief.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, thief.Start())
	defer func() { _, _ = thief.Process.Kill(), thief.Wait() }()
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "listening\n", first)

	// The client reconnects at once: with the thief, until the next server has begun.
	require.Eventually(t, func() bool {
		asking, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.DescribeWorkflowExecution(asking, "a-run-to-look-for", "")
		return err == nil
	}, 2*time.Minute, 50*time.Millisecond)
	after := pid(t, root)
	require.NotEqual(t, before.PID, after.PID)
	require.NotEqual(t, before.Certificate, after.Certificate)

	require.NoError(t, thief.Process.Kill())
	got := ""
	for line, err := lines.ReadString('\n'); err == nil; line, err = lines.ReadString('\n') {
		got += line
	}
	require.NotEmpty(t, got, "the client came to the thief")
	for role, token := range before.Tokens {
		require.NotContains(t, got, token)
		require.NotEqual(t, token, after.Tokens[role])
		s, err := connect(t, shown(t, after, token))
		if err == nil {
			_, err = s.DescribeWorkflowExecution(t.Context(), "a-run-to-look-for", "")
		}
		require.ErrorContains(t, err, "Request unauthorized", "the next server does not take the token of the %s", role)
	}
	for _, text := range []string{"Bearer", "PRI * HTTP", "a-run-to-look-for"} {
		require.NotContains(t, got, text, "nothing but the beginning of TLS is sent")
	}
}

// Another user of the machine cannot read the place of a server, nor list the data of the server.
func TestAnotherUserCannotReadTheFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can start a process of another user")
	}
	root := folder(t)
	require.NoError(t, os.Chmod(root, 0o755))
	h, err := server.HomeOf(root)
	require.NoError(t, err)
	joined, err := server.Join(t.Context(), h, "serve", root)
	require.NoError(t, err)
	defer func() { require.NoError(t, joined.Close()) }()
	folder := filepath.Join(root, server.FolderName)
	ls := exec.Command("/bin/ls", folder)
	ls.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	require.Error(t, ls.Run())
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	names := ""
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		names += e.Name() + " "
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), e.Name())
	}
	for _, name := range []string{"temporal.db ", "temporal.db-wal ", "temporal.db-shm ", "server.json "} {
		require.True(t, strings.Contains(names, name), names)
	}
}

// The permissions of readable files of an earlier version are restricted, and so are those of a folder that others may enter.
func TestAFolderThatOthersMayReadIsClosed(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, server.FolderName)
	require.NoError(t, os.Mkdir(folder, 0o777))
	require.NoError(t, os.Chmod(folder, 0o777))
	_, err := server.HomeOf(root)
	require.NoError(t, err)
	info, err := os.Stat(folder)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}
