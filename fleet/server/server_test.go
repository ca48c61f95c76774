package server_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/server"
)

// TestMain is also the server that tests start.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		h, err := server.HomeOf(os.Args[2])
		if err == nil {
			err = server.Run(context.Background(), h)
		}
		if err != nil {
			println(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func connect(t *testing.T, o client.Options) (client.Client, error) {
	t.Helper()
	c, err := server.Connect(t.Context(), o, converter.GetDefaultDataConverter(), temporal.GetDefaultFailureConverter(), server.Silent{})
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

func TestASecondCommandJoinsTheServerThatRuns(t *testing.T) {
	root := t.TempDir()
	h, err := server.HomeOf(root)
	require.NoError(t, err)
	first, err := server.Join(t.Context(), h, "serve", root)
	require.NoError(t, err)
	second, err := server.Join(t.Context(), h, "serve", root)
	require.NoError(t, err)
	require.Equal(t, first.Place, second.Place)
	require.Regexp(t, `^127\.0\.0\.1:\d+$`, first.Address)

	c, err := connect(t, first.Options())
	require.NoError(t, err)
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "a", TaskQueue: "q"}, "nothing")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, ".sluice-fleet", "temporal.db-wal"), "each change waits for the disk several times without it")
	require.NoError(t, first.Close())
	_, err = c.DescribeWorkflowExecution(t.Context(), "a", "")
	require.NoError(t, err, "it goes on for the second")

	stranger := second.Options()
	stranger.Credentials = client.NewAPIKeyStaticCredentials("guessed")
	s, err := connect(t, stranger)
	if err == nil {
		_, err = s.DescribeWorkflowExecution(t.Context(), "a", "")
	}
	require.Error(t, err, "who has not read the token is refused")
	require.NoError(t, second.Close())
}
