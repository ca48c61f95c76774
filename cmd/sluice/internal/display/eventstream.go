package display

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// networkScheme is the prefix of an event log that is a server instead of a file.
const networkScheme = "tcp://"

// eventPatience limits how long a server may take to confirm that it has all events.
const eventPatience = 10 * time.Second

// eventStream sends events to a server on this machine, which belongs to the caller of the operation (protocol.md
// 9.5).
type eventStream struct {
	conn   *grpc.ClientConn
	rpc    grpc.ClientStreamingClient[pulumirpc.EventRequest, emptypb.Empty]
	cancel context.CancelFunc
}

func dialEventStream(ctx context.Context, address string) (*eventStream, error) {
	port, err := plugin.LocalPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := plugin.Dial(ctx, port)
	if err != nil {
		return nil, err
	}
	s := &eventStream{conn: conn}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx)) // the end of an interrupted operation is an event, too
	if s.rpc, err = pulumirpc.NewEventsClient(conn).StreamEvents(ctx); err != nil {
		s.cancel()
		return nil, errors.Join(rpcError(err), conn.Close())
	}
	return s, nil
}

// Write sends one event: a line of JSON. It blocks while the reader is slow.
func (s *eventStream) Write(line []byte) (int, error) {
	err := s.rpc.Send(&pulumirpc.EventRequest{Event: string(bytes.TrimSuffix(line, []byte("\n")))})
	if err == io.EOF { //nolint:errorlint // gRPC says so that the stream has ended, and why when it is asked
		err = s.rpc.RecvMsg(new(emptypb.Empty))
	}
	if err != nil {
		return 0, rpcError(err)
	}
	return len(line), nil
}

// Close waits until the server has confirmed the events.
func (s *eventStream) Close() error {
	defer s.cancel()
	defer time.AfterFunc(eventPatience, s.cancel).Stop()
	_, err := s.rpc.CloseAndRecv()
	return errors.Join(rpcError(err), s.conn.Close())
}

func rpcError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("send events: %s", status.Convert(err).Message())
}
