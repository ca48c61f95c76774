package plugin

import (
	"context"
	"fmt"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// subject is the subject of a call, for messages.
type subject struct {
	method string
	urn    urn.URN // "" for functions
	token  string  // of a function or a component
	// args are the arguments of a Construct or a Call: their errors may name properties.
	args property.Map
}

// The methods whose calls should be short, with their names in messages.
const (
	methodConfigure   = "configure"
	methodCheckConfig = "check the configuration"
	methodDiffConfig  = "compare the configuration"
	methodCheck       = "check"
	methodDiff        = "diff"
)

func (s subject) String() string {
	switch {
	case s.urn != "":
		return s.method + " of " + string(s.urn)
	case s.token != "":
		return s.method + " of " + s.token
	}
	return s.method
}

// rpcError is an error that a provider returned. Its text is the provider's own: only the message is shown, never the
// code (protocol.md 3.8).
type rpcError struct {
	message string
	status  *status.Status
}

func (e *rpcError) Error() string { return e.message }

// GRPCStatus lets grpc's status functions see the code.
func (e *rpcError) GRPCStatus() *status.Status { return e.status }

// Throttled reports whether the provider says that it, or the API behind it, gets too many calls. A message that is too large for gRPC has the same code.
func (e *rpcError) Throttled() bool {
	return e.status.Code() == codes.ResourceExhausted && !strings.Contains(e.status.Message(), "larger than max")
}

func (e *rpcError) Unwrap() error {
	switch e.status.Code() {
	case codes.Unimplemented:
		return providers.ErrUnsupported
	case codes.Canceled:
		return context.Canceled
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded
	}
	return nil
}

// plain returns a provider's error with its causes, and with no text of gRPC.
func plain(err error) error {
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	message := st.Message()
	for _, d := range st.Details() {
		if cause, ok := d.(*pulumirpc.ErrorCause); ok && cause.GetMessage() != "" {
			message += ": " + cause.GetMessage()
		}
	}
	if strings.TrimSpace(message) == "" {
		message = noReason(st)
	}
	return &rpcError{message: redact.Cut(message, redact.MaxMessage), status: st}
}

// noReason is the message for a provider's error without a text.
func noReason(st *status.Status) string {
	return fmt.Sprintf("it gives no reason (gRPC code %s)", st.Code())
}

// ended returns why the context of a call ended if that is why the call failed. The server counts the deadline too and
// may be a little earlier. This looks like a call that the server canceled itself.
func ended(ctx context.Context, code codes.Code) error {
	if code != codes.Canceled && code != codes.DeadlineExceeded {
		return nil
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < clockTolerance {
		<-ctx.Done()
	}
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}

// clockTolerance is how much earlier than the engine a server may reach a deadline.
const clockTolerance = 100 * time.Millisecond

// unusable marks an error that came after the provider had done its work.
func unusable(err error) error { return &providers.UncertainError{Err: err, Lost: true} }

// cutAll cuts the very long ones of a provider's texts.
func cutAll(list []string) []string {
	for i, text := range list {
		list[i] = redact.Cut(text, redact.MaxMessage)
	}
	return list
}
