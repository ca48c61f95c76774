package plugin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/internal/platform/peer"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// MaxMessageSize is the largest gRPC message in bytes that the engine sends and accepts ([protocol.md 1.1]).
//
// [protocol.md 1.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#11-connections
const MaxMessageSize = 400 << 20

const (
	dialPatience  = 10 * time.Second // protocol.md 1.8
	retryInterval = 10 * time.Millisecond
)

// Dial connects to a port of this machine and waits until the connection is usable, ten seconds at most. A port at which another
// user's process listens is an error at once, and whenever the connection has to be made again: the calls fail then.
func Dial(ctx context.Context, port int, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	conn, err := grpc.NewClient("passthrough:///127.0.0.1:"+strconv.Itoa(port), append([]grpc.DialOption{
		grpc.WithTransportCredentials(peer.Credentials(func(err error) {
			if errors.As(err, new(*peer.StrangerError)) {
				giveUp(err)
			}
		})), grpc.WithStatsHandler(watcher{dialed: trace.SpanContextFromContext(ctx)}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessageSize), grpc.MaxCallSendMsgSize(MaxMessageSize)),
	}, options...)...)
	if err != nil {
		return nil, err
	}
	conn.Connect()
	for s := conn.GetState(); s != connectivity.Ready; s = conn.GetState() {
		if !conn.WaitForStateChange(ctx, s) {
			_ = conn.Close()
			return nil, notConnected(port, context.Cause(ctx))
		}
		if s == connectivity.Idle {
			conn.Connect()
		}
	}
	return conn, nil
}

func notConnected(port int, err error) error {
	if stranger := (*peer.StrangerError)(nil); errors.As(err, &stranger) {
		return fmt.Errorf("the connection is not used: %w, and not to the user who runs sluice. Somebody may have taken the "+
			"port; try again", stranger)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no gRPC server answers on 127.0.0.1:%d within %s", port, dialPatience)
	}
	return fmt.Errorf("no gRPC server answers on 127.0.0.1:%d: %w", port, err)
}

// features are the features that a provider reports (protocol.md 1.8).
type features struct {
	secrets, resources, outputs, autonaming, preview bool
	byteStrings, outputsInInvoke, outputsInCall      bool
	// handshaken is false for old plugins, which report their features when they are configured.
	handshaken bool
}

// handshake introduces the engine.
func handshake(ctx context.Context, rpc pulumirpc.ResourceProviderClient, req *pulumirpc.ProviderHandshakeRequest) (features, error) {
	answer, err := retryUnavailable(ctx, func() (*pulumirpc.ProviderHandshakeResponse, error) {
		return rpc.Handshake(ctx, req)
	})
	if status.Code(err) == codes.Unimplemented {
		return features{}, nil
	}
	if err != nil && says(err, unread) {
		return features{}, fmt.Errorf("its answer to the handshake cannot be decoded: %w", plain(err))
	}
	if err != nil {
		return features{}, fmt.Errorf("handshake: %w", plain(err))
	}
	return features{
		secrets: answer.GetAcceptSecrets(), resources: answer.GetAcceptResources(), outputs: answer.GetAcceptOutputs(),
		autonaming: answer.GetSupportsAutonamingConfiguration(), preview: true, handshaken: true,
		byteStrings: answer.GetAcceptsByteString(), outputsInInvoke: answer.GetAcceptsOutputsInInvoke(),
		outputsInCall: answer.GetAcceptsOutputsInCall(),
	}, nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// retryUnavailable repeats a first call while the server is not serving yet.
func retryUnavailable[T any](ctx context.Context, call func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	for {
		answer, err := call()
		if status.Code(err) != codes.Unavailable {
			return answer, err
		}
		if cut := await.For(ctx, retryInterval); cut != nil {
			return answer, errors.Join(err, cut)
		}
	}
}
