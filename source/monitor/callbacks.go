package monitor

import (
	"context"
	"fmt"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/stages"
)

// callbackClients holds one connection for each program (or component provider) that serves callbacks. It is safe for
// many goroutines.
type callbackClients struct {
	mu     sync.Mutex // guards the fields below; never held during a call
	conns  map[string]*grpc.ClientConn
	closed bool
}

func newCallbackClients() *callbackClients {
	return &callbackClients{conns: make(map[string]*grpc.ClientConn)}
}

// bind checks a callback and returns the function that calls it. The function may be called from many goroutines.
func (c *callbackClients) bind(cb *pulumirpc.Callback) (call, error) {
	if cb.GetTarget() == "" || cb.GetToken() == "" {
		return nil, invalid("invalid callback: it needs a target and a token")
	}
	client, err := c.client(cb.GetTarget())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, req, reply proto.Message) error {
		b, err := proto.Marshal(req)
		if err != nil {
			return fmt.Errorf("encode the request of a callback: %w", err)
		}
		answer, err := client.Invoke(ctx, &pulumirpc.CallbackInvokeRequest{Token: cb.GetToken(), Request: b})
		if err != nil {
			return callbackError(err)
		}
		if err := proto.Unmarshal(answer.GetResponse(), reply); err != nil {
			return fmt.Errorf("decode the response of a callback: %w", err)
		}
		return nil
	}, nil
}

// call runs one callback in the program; the messages are those of protocol.md 5.5.
type call func(ctx context.Context, req, reply proto.Message) error

// client shares one connection among all callbacks with one target. The connection is made by the first call.
func (c *callbackClients) client(target string) (pulumirpc.CallbacksClient, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, stages.ErrShutDown
	}
	conn, ok := c.conns[target]
	if !ok {
		var err error
		if conn, err = loopback.Dial(target); err != nil {
			return nil, invalid("invalid callback target %q: %w", target, err)
		}
		c.conns[target] = conn
	}
	return pulumirpc.NewCallbacksClient(conn), nil
}

// close closes every connection. Callbacks called afterwards fail.
func (c *callbackClients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.conns {
		_ = conn.Close() // only fails when it is closed already
	}
	clear(c.conns)
}

// CallbackError is the exception of a callback in the program, or the reason why it could not be reached.
type CallbackError struct {
	Message string
	Err     error // the status
}

func (e *CallbackError) Error() string { return e.Message }
func (e *CallbackError) Unwrap() error { return e.Err }

// callbackError keeps the message of the program's exception, without the prefix of gRPC. It adds a note if there was no answer.
func callbackError(err error) error {
	st := status.Convert(err)
	message := redact.Cut(st.Message(), redact.MaxMessage)
	if st.Code() == codes.Unavailable {
		message = "the process that serves the callback has ended, or does not answer: " + message
	}
	return &CallbackError{Message: message, Err: err}
}
