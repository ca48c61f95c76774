package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/server"
)

// Other users of the machine reach all ports of the server, including those between its services.
func TestNoPortOfTheServerAnswersWhoHasNoToken(t *testing.T) {
	root := folder(t)
	h, err := server.HomeOf(root)
	require.NoError(t, err)
	joined, err := server.Join(t.Context(), h, "serve", root)
	require.NoError(t, err)
	defer func() { require.NoError(t, joined.Close()) }()
	mine, err := connect(t, joined.Options(server.Client))
	require.NoError(t, err)
	_, err = mine.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "a", TaskQueue: "q"}, "nothing")
	require.NoError(t, err)

	ports := listening(t, joined.PID)
	require.GreaterOrEqual(t, len(ports), 5)
	for _, port := range ports {
		o := client.Options{HostPort: fmt.Sprintf("127.0.0.1:%d", port), Namespace: server.Namespace, Logger: server.Silent{}}
		c, err := client.NewLazyClient(o)
		require.NoError(t, err)
		asking, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		_, err = c.DescribeWorkflowExecution(asking, "a", "")
		cancel()
		require.Error(t, err, port)
		require.NotContains(t, err.Error(), "unknown service", port) // the error of another service
		c.Close()
	}
}

// listening returns the ports on which a process listens. All are on loopback.
func listening(t *testing.T, pid int) []uint64 {
	t.Helper()
	process, err := procfs.NewProc(pid)
	require.NoError(t, err)
	open, err := process.FileDescriptorTargets()
	require.NoError(t, err)
	sockets := strings.Join(open, "\n")
	system, err := procfs.NewDefaultFS()
	require.NoError(t, err)
	four, err := system.NetTCP() //lint:ignore SA1019 a few sockets of one process need no connection to the kernel
	require.NoError(t, err)
	six, err := system.NetTCP6() //lint:ignore SA1019 as above
	require.NoError(t, err)
	var ports []uint64
	const listens = 0x0a
	for _, line := range append(four, six...) {
		if line.St == listens && strings.Contains(sockets, fmt.Sprintf("socket:[%d]", line.Inode)) {
			require.True(t, line.LocalAddr.IsLoopback(), line.LocalAddr)
			ports = append(ports, line.LocalPort)
		}
	}
	return ports
}
