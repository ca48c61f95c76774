package server_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/fleet/server"
)

func TestAServerOfSomebodyElseIsReachedByTLSIfThereIsAKeyOrACertificate(t *testing.T) {
	plain, err := server.Address{Host: "temporal.example.com:7233", Namespace: "infra"}.Options()
	require.NoError(t, err)
	require.Nil(t, plain.ConnectionOptions.TLS)
	require.Nil(t, plain.Credentials)
	for name, a := range map[string]server.Address{
		"asked for": {TLS: true, ServerName: "temporal"}, "an API key": {APIKey: "x", ServerName: "temporal"},
	} {
		o, err := a.Options()
		require.NoError(t, err, name)
		require.Equal(t, "temporal", o.ConnectionOptions.TLS.ServerName, name)
	}
	broken := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(broken, []byte("nothing"), 0o600))
	_, err = server.Address{CA: broken}.Options()
	require.ErrorContains(t, err, "has no certificate in PEM")
	_, err = server.Address{CA: broken + "x"}.Options()
	require.ErrorContains(t, err, "--tls-ca")
	_, err = server.Address{Cert: broken, Key: broken}.Options()
	require.ErrorContains(t, err, "--tls-cert and --tls-key")
}

func TestErrorsAboutTheQuestionDoNotPass(t *testing.T) {
	for _, passing := range []error{
		context.DeadlineExceeded, serviceerror.NewUnavailable("x"), serviceerror.NewInternal("x"), serviceerror.NewResourceExhausted(0, "x"), serviceerror.NewCanceled("x"),
		serviceerror.NewFailedPrecondition("no poller seen for task queue recently, worker may be down"), serviceerror.NewWorkflowNotReady("x"), serviceerror.NewQueryFailed("x"),
		status.Error(codes.FailedPrecondition, "no poller seen for task queue recently, worker may be down"), status.Error(codes.Unavailable, "x"),
		fmt.Errorf("no worker answers: %w", serviceerror.NewFailedPrecondition("x")),
	} {
		require.True(t, server.IsPassing(passing), "%T %v", passing, passing)
	}
	for _, lasting := range []error{
		errors.New("a payload is damaged"), serviceerror.NewNotFound("x"), serviceerror.NewNamespaceNotFound("x"), serviceerror.NewInvalidArgument("x"),
		serviceerror.NewPermissionDenied("x", "y"), status.Error(codes.Unauthenticated, "x"), temporal.NewApplicationError("it is broken", "x"),
	} {
		require.False(t, server.IsPassing(lasting), "%T %v", lasting, lasting)
	}
}
