package display

import (
	"errors"
	"io"
	"net"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/stages"
)

// events is an event server that stores the events. After the first one it returns refusal, unless that is nil.
type events struct {
	pulumirpc.UnimplementedEventsServer
	refusal error
	got     []string
	ended   bool
}

func (e *events) StreamEvents(s grpc.ClientStreamingServer[pulumirpc.EventRequest, emptypb.Empty]) error {
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			e.ended = true
			return s.SendAndClose(&emptypb.Empty{})
		}
		if err != nil {
			return err
		}
		e.got = append(e.got, m.GetEvent())
		if e.refusal != nil {
			return e.refusal
		}
	}
}

// serve serves events until stop is called, and returns the name of the event log.
func (e *events) serve(t *testing.T) (log string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer()
	pulumirpc.RegisterEventsServer(s, e)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(s.Stop)
	return "tcp://" + l.Addr().String(), func() {
		s.GracefulStop()
		require.NoError(t, <-served)
	}
}

func TestEventsAreSentToAServer(t *testing.T) {
	server := &events{}
	log, stop := server.serve(t)
	l, err := OpenEventLog(t.Context(), log, true)
	require.NoError(t, err)
	l.Observe(stages.Stdout{Message: "x"})
	require.NoError(t, l.Close(), "the server has all events before the log is closed")
	stop()
	require.True(t, server.ended)
	require.Len(t, server.got, 2)
	require.Contains(t, server.got[0], `"stdoutEvent":{"message":"x","color":"raw"}}`)
	require.Contains(t, server.got[1], `"sequence":1`)
	require.Contains(t, server.got[1], `"cancelEvent":{}`)
}

func TestAServerThatRefusesEventsFailsTheLog(t *testing.T) {
	server := &events{refusal: errors.New("no more events")}
	log, stop := server.serve(t)
	l, err := OpenEventLog(t.Context(), log, true)
	require.NoError(t, err)
	for range 3 {
		l.Observe(stages.Stdout{Message: "x"})
	}
	require.ErrorContains(t, l.Close(), "no more events")
	stop()
}

func TestAnEventLogMustBeOnThisMachine(t *testing.T) {
	for _, log := range []string{"tcp://example.com:80", "tcp://10.0.0.1:80", "tcp://127.0.0.1", "tcp://", "tcp://127.0.0.1:0", "tcp://127.0.0.1:http"} {
		_, err := OpenEventLog(t.Context(), log, true)
		require.ErrorContains(t, err, "the event log "+log+": ")
		require.ErrorContains(t, err, "write 127.0.0.1:<port>")
	}
}
