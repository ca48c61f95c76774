package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/server"
)

// TestMain also runs the server that tests start.
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
	if len(os.Args) == 3 && os.Args[1] == "eavesdrop" {
		eavesdrop(os.Args[2])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// eavesdrop listens at an address, as soon as it is free, and prints everything that it receives. It never answers.
func eavesdrop(address string) {
	l, err := net.Listen("tcp", address)
	for end := time.Now().Add(time.Minute); errors.Is(err, syscall.EADDRINUSE) && time.Now().Before(end); { // a killed process lets go of it only when it has ended
		time.Sleep(time.Millisecond)
		l, err = net.Listen("tcp", address)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listening")
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		got := make([]byte, 64<<10)
		n, _ := c.Read(got)
		fmt.Println(strconv.Quote(string(got[:n])))
		_ = c.Close()
	}
}

func connect(t *testing.T, o client.Options) (client.Client, error) {
	t.Helper()
	c, err := server.Connect(t.Context(), o, converter.GetDefaultDataConverter(), temporal.GetDefaultFailureConverter(), server.Silent{})
	if err == nil {
		t.Cleanup(c.Close)
	}
	return c, err
}

// shown returns the options of a client that trusts the server at a place and shows a token.
func shown(t *testing.T, at server.Place, token string) client.Options {
	known := x509.NewCertPool()
	require.True(t, known.AppendCertsFromPEM([]byte(at.Certificate)))
	return client.Options{
		HostPort: at.Address, Namespace: server.Namespace, Credentials: client.NewAPIKeyStaticCredentials(token),
		ConnectionOptions: client.ConnectionOptions{TLS: &tls.Config{RootCAs: known, MinVersion: tls.VersionTLS13}},
	}
}

// folder returns a folder for a fleet. It is removed when its server, which ends after the last command, writes there no more.
func folder(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	t.Cleanup(func() {
		lock := flock.New(filepath.Join(root, server.FolderName, "server.lock"))
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		free, err := lock.TryLockContext(ctx, 50*time.Millisecond)
		require.NoError(t, err)
		require.True(t, free)
		require.NoError(t, lock.Unlock())
	})
	return root
}

func TestASecondCommandJoinsTheServerThatRuns(t *testing.T) {
	root := folder(t)
	h, err := server.HomeOf(root)
	require.NoError(t, err)
	first, err := server.Join(t.Context(), h, "serve", root)
	require.NoError(t, err)
	second, err := server.Join(t.Context(), h, "serve", root)
	require.NoError(t, err)
	require.Equal(t, first.Place, second.Place)
	require.Regexp(t, `^127\.0\.0\.1:\d+$`, first.Address)

	c, err := connect(t, first.Options(server.Client))
	require.NoError(t, err)
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "a", TaskQueue: "q"}, "nothing")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(root, ".sluice-fleet", "temporal.db-wal"), "each change waits for the disk several times without it")
	require.NoError(t, first.Close())
	_, err = c.DescribeWorkflowExecution(t.Context(), "a", "")
	require.NoError(t, err, "it goes on for the second")

	for token, wants := range map[string]bool{first.Tokens[server.Client]: true, first.Tokens[server.Worker]: true, first.Tokens[server.Approver]: false, "guessed": false} {
		s, err := connect(t, shown(t, first.Place, token))
		if err == nil {
			_, err = s.DescribeWorkflowExecution(t.Context(), "a", "")
		}
		require.Equal(t, wants, err == nil, "%v", err)
	}
	require.NoError(t, second.Close())
}
