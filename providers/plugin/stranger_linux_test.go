package plugin_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// A process that takes the port of a dead plugin would get the configuration of the provider, with its secrets.
func TestAPortThatAnotherUserHasTakenIsNotCalled(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED: only root can start a process of another user")
	}
	binary, err := os.Open(binaries + "/pulumi-resource-simple")
	require.NoError(t, err)
	defer binary.Close()
	cmd := exec.Command("/proc/self/fd/3") // another user may not enter the folder of the binary
	cmd.ExtraFiles = []*os.File{binary}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	line = strings.TrimSpace(line)
	port, err := strconv.Atoi(line)
	require.NoError(t, err)
	_, err = plugin.Dial(t.Context(), port)
	require.ErrorContains(t, err, "127.0.0.1:"+line+" belongs to ")
	require.ErrorContains(t, err, "(uid 65534)")

	_, err = newHost(setup{env: map[string]string{"PULUMI_DEBUG_PROVIDERS": "simple:" + line}}).Load(t.Context(), providers.Spec{Package: "simple"})
	require.ErrorContains(t, err, "plugin simple, which PULUMI_DEBUG_PROVIDERS names: the connection is not used")
}
