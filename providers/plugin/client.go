package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// client is a provider in another process.
type client struct {
	rpc     pulumirpc.ResourceProviderClient
	conn    *grpc.ClientConn
	process Server // nil for a plugin that was attached
	plugin  string // name of the plugin
	version string // of the plugin, as requested; "" for any
	place   string // its executable or the folder of its sources; "" for a plugin that was attached
	pkg     string // name of the package it serves
	// features are those of the handshake; of an old plugin those that Configure returned.
	features       atomic.Pointer[features]
	disablePreview bool

	note  func(string) // receives messages about slow calls; nil discards
	noted sync.Once    // the first slow call

	closing sync.Once
	closed  error
}

var _ providers.Provider = (*client)(nil)

// cancelPatience is how long a plugin may take to acknowledge Cancel before it is interrupted.
const cancelPatience = time.Second

func (c *client) Package() string { return c.pkg }

// Cancel asks the plugin to abort its work. A plugin without Cancel counts as acknowledging (protocol.md 1.13).
func (c *client) Cancel(ctx context.Context) error {
	if c.process != nil && c.process.Exited() != nil {
		return nil
	}
	_, err := c.rpc.Cancel(ctx, &emptypb.Empty{})
	if err == nil || status.Code(err) == codes.Unimplemented {
		return nil
	}
	if c.process != nil && c.process.Exited() != nil {
		return nil
	}
	if cause := ended(ctx, status.Code(err)); cause != nil {
		return fmt.Errorf("cancel plugin %s: %w", c.plugin, cause)
	}
	return fmt.Errorf("cancel plugin %s: %w", c.plugin, plain(err))
}

// Close asks the plugin to stop, then interrupts it, then kills it and the processes that it started. An attached plugin
// only loses its connection (protocol.md 1.9, 1.13).
func (c *client) Close() error {
	c.closing.Do(func() {
		if c.process != nil {
			ctx, cancel := context.WithTimeout(context.Background(), cancelPatience)
			_ = c.Cancel(ctx) // it is stopped in any case
			cancel()
		}
		err := c.conn.Close()
		if c.process == nil {
			c.closed = err
			return
		}
		c.process.Stop() // the connection may have been closed because the process had died
	})
	return c.closed
}

// outgoing are the options for values that are sent typed if the provider supports it: the column "K" of protocol.md
// 2.5.
func (c *client) outgoing(u property.UnknownPolicy) property.WireOptions {
	f := c.features.Load()
	return property.WireOptions{Unknowns: u, KeepSecrets: f.secrets, KeepReferences: f.resources}
}

// incoming are the options for answers: all typed values are decoded.
func incoming(preview bool) property.WireOptions {
	return property.WireOptions{Unknowns: keptIf(preview), KeepSecrets: true, KeepReferences: true}
}

// keptIf keeps unknowns in previews. Otherwise an unknown in an answer is a mistake of the provider, and one in the inputs
// of a create or an update would be lost silently.
func keptIf(preview bool) property.UnknownPolicy {
	if preview {
		return property.KeepUnknowns
	}
	return property.RejectUnknowns
}

// keptElseDropped is for values that are only compared or checked: old values, and new ones in Check and Diff. Outside
// previews an unknown comes from a resource that failed or was skipped, and its dependents are checked before they are
// skipped, too (steps.md 9.4).
func keptElseDropped(preview bool) property.UnknownPolicy {
	if preview {
		return property.KeepUnknowns
	}
	return property.DropUnknowns
}

func elided(o property.WireOptions) property.WireOptions {
	o.ElideAssets = true
	return o
}

// encoder encodes the parts of one request and keeps the first error.
type encoder struct {
	subject subject
	plugin  string
	err     error
}

func (c *client) encoder(s subject) *encoder { return &encoder{subject: s, plugin: c.plugin} }

func (e *encoder) encode(m property.Map, o property.WireOptions) *structpb.Struct {
	if e.err != nil {
		return nil
	}
	s, err := property.MarshalStruct(m, o)
	if err != nil {
		e.err = fmt.Errorf("%s: encoding for provider %s: %w", e.subject, e.plugin, err)
	}
	return s
}

// status returns the address at which the plugin may publish views during the call, and the token for it.
func (e *encoder) status(s providers.Status) (address, token string) {
	if s == nil || e.err != nil {
		return "", ""
	}
	t, err := s.Token()
	if err != nil {
		e.err = fmt.Errorf("%s: letting provider %s publish views: %w", e.subject, e.plugin, err)
	}
	return t.Address, t.Token
}

// monitor returns the address at which the plugin can call the run's monitor, "" if there is none.
func (e *encoder) monitor(d providers.Deployment) string {
	if d.MonitorAddress == nil || e.err != nil {
		return ""
	}
	address, err := d.MonitorAddress()
	if err != nil {
		e.err = fmt.Errorf("%s: letting provider %s call back: %w", e.subject, e.plugin, err)
	}
	return address
}

// decode reads a part of an answer. Its error names the provider.
func (c *client) decode(s subject, from *structpb.Struct, o property.WireOptions) (property.Map, error) {
	m, err := property.UnmarshalStruct(from, o)
	if err != nil {
		return property.Map{}, fmt.Errorf("%s: provider %s returned properties that cannot be read: %w%s",
			s, c.title(), err, bug(c))
	}
	return m, nil
}

// received applies the secretness of the sent values to an answer of a provider that does not keep secrets (protocol.md
// 2.4).
func (c *client) received(got, sent property.Map) property.Map {
	if c.features.Load().secrets {
		return got
	}
	return property.AnnotateSecrets(got, sent)
}

// unusable marks an error that came after the provider had done its work.
func unusable(err error) error { return &providers.UncertainError{Err: err, Lost: true} }

func failures(list []*pulumirpc.CheckFailure) []providers.CheckFailure {
	var out []providers.CheckFailure
	for _, f := range list {
		reason := cmp.Or(strings.TrimSpace(f.GetReason()), "the provider gives no reason")
		out = append(out, providers.CheckFailure{Property: f.GetProperty(), Reason: redact.Cut(reason, redact.MaxMessage)})
	}
	return out
}

// roundTrip makes one call. When the process dies the call ends at once: see [Host.client].
func roundTrip[Req proto.Message, Resp any](
	ctx context.Context, c *client, s subject,
	rpc func(context.Context, Req, ...grpc.CallOption) (Resp, error), req Req,
) (Resp, error) {
	w := &watch{}
	defer noteIfSlow(c, s)()
	answer, err := rpc(w.in(ctx), req)
	w.collect()
	if err != nil {
		var none Resp
		return none, c.failure(ctx, s, req, err, w)
	}
	return answer, nil
}

// shortCalls are the methods that no display shows while they run. Without a message nothing would show why a run
// waits.
var shortCalls = []string{methodConfigure, methodCheckConfig, methodDiffConfig, methodCheck, methodDiff}

// noteIfSlow writes a message about the first such call that is not answered in time. The caller must call the result.
func noteIfSlow(c *client, s subject) func() bool {
	if c.note == nil || !slices.Contains(shortCalls, s.method) {
		return func() bool { return true }
	}
	return time.AfterFunc(slowStart, func() {
		c.noted.Do(func() {
			said := ""
			if c.process != nil {
				said = below(c.process.Said())
			}
			c.note(fmt.Sprintf("%s: provider %s has not answered after %s, and is waited for%s",
				s, titleOf(c.plugin, c.version, c.place), slowStart, said))
		})
	}).Stop
}

// failure turns the error of a call into one for the engine: that of a call without an answer, of an uncertain outcome,
// or the provider's own.
func (c *client) failure(ctx context.Context, s subject, req proto.Message, err error, w *watch) error {
	if how := missing(err, w); how != "" {
		return unusable(fmt.Errorf("%s: provider %s %s: %w%s", s, c.title(), how, plain(err), bug(c)))
	}
	st, ok := status.FromError(err)
	if !ok || !w.answered.Load() {
		return c.unanswered(ctx, s, req, err, w)
	}
	if cause := ended(ctx, st.Code()); cause != nil {
		return &providers.UncertainError{Err: fmt.Errorf("%s: %w", s, cause), Lost: true} // the deadline has aborted it
	}
	if large := c.tooLarge(s, req, err); large != nil {
		return large
	}
	failed := plain(err)
	if failed.Error() == noReason(st) {
		failed = &rpcError{message: fmt.Sprintf("%s: provider %s failed: %s", s, c.title(), noReason(st)), status: st}
	}
	if details := c.propertyErrors(s, st); details != "" {
		failed = &rpcError{message: failed.Error() + details, status: st}
	}
	switch st.Code() {
	case codes.Internal, codes.DataLoss, codes.Unknown:
		return &providers.UncertainError{Err: failed}
	}
	return failed
}

// unanswered is the error of a call that the provider has not answered. Unless the call certainly did not reach the
// provider, its outcome is uncertain.
func (c *client) unanswered(ctx context.Context, s subject, req proto.Message, err error, w *watch) error {
	code := status.Code(err)
	if exit := c.death(ctx, code); exit != nil {
		err = exit
	} else if cause := ended(ctx, code); cause != nil {
		err = cause
	} else if large := c.tooLarge(s, req, err); large != nil && !w.sent.Load() {
		return large
	} else {
		err = fmt.Errorf("provider %s has not answered: %w", c.plugin, plain(err))
	}
	err = fmt.Errorf("%s: %w", s, err)
	if !w.sent.Load() {
		return err
	}
	return &providers.UncertainError{Err: err, Lost: true}
}

// tooLarge names the property that makes a request too large for the provider; nil if that is not the cause.
func (c *client) tooLarge(s subject, req proto.Message, err error) error {
	if status.Code(err) != codes.ResourceExhausted {
		return nil
	}
	large := largestProperty(req)
	if large == "" {
		return nil
	}
	return fmt.Errorf("%s: %w; %s", s, plain(err), large)
}

// death returns how the process ended if that is why a call failed: the connection broke, or the call was abandoned
// because of it. A provider may also answer "unavailable" itself and live on; then the connection is usable.
func (c *client) death(ctx context.Context, code codes.Code) error {
	switch {
	case c.process == nil:
		return nil
	case code == codes.Canceled && ctx.Err() == nil:
		return c.process.Exited()
	case code != codes.Unavailable:
		return nil
	case c.conn.GetState() == connectivity.Ready:
		return c.process.ExitedWithin(exitPatience / 10)
	}
	return c.process.ExitedWithin(exitPatience)
}

// propertyErrors lists the errors of a component provider about single properties (protocol.md 3.8).
func (c *client) propertyErrors(s subject, st *status.Status) string {
	var b strings.Builder
	for _, d := range st.Details() {
		list, ok := d.(*pulumirpc.InputPropertiesError)
		if !ok {
			continue
		}
		for _, e := range list.GetErrors() {
			fmt.Fprintf(&b, "\n\t\t- property %v", e.GetPropertyPath())
			if v, ok := propertyAt(s.args, e.GetPropertyPath()); ok {
				fmt.Fprintf(&b, " with value '%v'", v)
			}
			fmt.Fprintf(&b, " has a problem: %v", e.GetReason())
		}
	}
	return b.String()
}

// initError returns the error of a resource that exists but is not healthy, or nil when err is another one (protocol.md
// 3.7). Its properties are read like those of the response.
func (c *client) initError(s subject, err error, o property.WireOptions, sentInputs, sentState property.Map) error {
	st, ok := status.FromError(err)
	if !ok {
		return nil
	}
	for i, d := range st.Details() {
		detail, ok := d.(*pulumirpc.ErrorResourceInitFailed)
		if !ok {
			if bad, ok := d.(error); ok && st.Proto().GetDetails()[i].MessageIs(detail) {
				return c.malformed(s, "an object that is not healthy and cannot be read (%w): %w", bad, plain(err))
			}
			continue
		}
		if property.IsUnknownMarker(detail.GetId()) {
			return c.malformed(s, unknownID+" for an object that is not healthy (%w)", plain(err))
		}
		properties, err1 := c.decode(s, detail.GetProperties(), o)
		inputs, err2 := c.decode(s, detail.GetInputs(), o)
		if bad := errors.Join(err1, err2); bad != nil {
			return unusable(bad)
		}
		return &providers.InitError{
			ID: detail.GetId(), Properties: c.received(properties, sentState), Inputs: c.received(inputs, sentInputs),
			HasInputs: detail.GetInputs() != nil, Reasons: cutAll(detail.GetReasons()),
			RefreshBeforeUpdate: detail.GetRefreshBeforeUpdate(), Err: plain(err),
		}
	}
	return nil
}

// cutAll cuts the very long ones of a provider's texts.
func cutAll(list []string) []string {
	for i, text := range list {
		list[i] = redact.Cut(text, redact.MaxMessage)
	}
	return list
}

// malformed is the error of an answer that cannot be used. The outcome of the operation is uncertain.
func (c *client) malformed(s subject, format string, args ...any) error {
	return unusable(c.fault(s, format, args...))
}

// fault is the error of an answer that only a provider with a bug gives.
func (c *client) fault(s subject, format string, args ...any) error {
	return fmt.Errorf("%s: provider %s answered with %w%s", s, c.title(), fmt.Errorf(format, args...), bug(c))
}
