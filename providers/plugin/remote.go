package plugin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// remote is the plugin at the other end of a connection. It turns the errors of calls into errors for the engine.
type remote struct {
	rpc     pulumirpc.ResourceProviderClient
	conn    *grpc.ClientConn
	process Server // nil for a plugin that was attached
	name    string // of the plugin
	version string // of the plugin, as requested; "" for any
	place   string // its executable or the folder of its sources; "" for a plugin that was attached

	note func(string) // receives the message about the first slow call; nil discards
	slow slowCalls    // unused without note
}

// decode reads a part of an answer. Its error names the provider.
func (r *remote) decode(s subject, from *structpb.Struct, o property.WireOptions) (property.Map, error) {
	m, err := property.UnmarshalStruct(from, o)
	if err != nil {
		return property.Map{}, fmt.Errorf("%s: provider %s returned properties that cannot be read: %w%s",
			s, r.title(), err, r.bug())
	}
	return m, nil
}

// shortCalls are the methods that no display shows while they run. Without a message nothing would show why a run
// waits.
var shortCalls = []string{methodConfigure, methodCheckConfig, methodDiffConfig, methodCheck, methodDiff}

// noteSlow writes a message about a short call that is not answered in time.
func (r *remote) noteSlow(s subject) {
	said := ""
	if r.process != nil {
		said = below(r.process.LastOutput())
	}
	r.note(fmt.Sprintf("%s: provider %s has not answered after %s, and is waited for%s", s, titleOf(r.name, r.version, r.place), slowStart, said))
}

// failure turns the error of a call into one for the engine: that of a call without an answer, of an uncertain outcome,
// or the provider's own.
func (r *remote) failure(ctx context.Context, s subject, req proto.Message, err error, w *watch) error {
	if how := missing(err, w); how != "" {
		return unusable(fmt.Errorf("%s: provider %s %s: %w%s", s, r.title(), how, plain(err), r.bug()))
	}
	st, ok := status.FromError(err)
	if !ok || !w.answered.Load() {
		return r.unanswered(ctx, s, req, err, w)
	}
	if cause := ended(ctx, st.Code()); cause != nil {
		return &providers.UncertainError{Err: fmt.Errorf("%s: %w", s, cause), Lost: true} // the deadline has aborted it
	}
	if large := r.tooLarge(s, req, err); large != nil {
		return large
	}
	failed := plain(err)
	if failed.Error() == noReason(st) {
		failed = &rpcError{message: fmt.Sprintf("%s: provider %s failed: %s", s, r.title(), noReason(st)), status: st}
	}
	if details := r.propertyErrors(s, st); details != "" {
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
func (r *remote) unanswered(ctx context.Context, s subject, req proto.Message, err error, w *watch) error {
	code := status.Code(err)
	if exit := r.death(ctx, code); exit != nil {
		err = exit
	} else if cause := ended(ctx, code); cause != nil {
		err = cause
	} else if large := r.tooLarge(s, req, err); large != nil && !w.sent.Load() {
		return large
	} else {
		err = fmt.Errorf("provider %s has not answered: %w", r.name, plain(err))
	}
	err = fmt.Errorf("%s: %w", s, err)
	if !w.sent.Load() {
		return err
	}
	return &providers.UncertainError{Err: err, Lost: true}
}

// tooLarge names the property that makes a request too large for the provider; nil if that is not the cause.
func (r *remote) tooLarge(s subject, req proto.Message, err error) error {
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
func (r *remote) death(ctx context.Context, code codes.Code) error {
	switch {
	case r.process == nil:
		return nil
	case code == codes.Canceled && ctx.Err() == nil:
		return r.process.Exited()
	case code != codes.Unavailable:
		return nil
	case r.staysReady():
		return r.process.Exited()
	}
	return ExitedSoon(r.process)
}

// readyPatience is how long a connection may still be called ready after it broke. All that has to happen is in this process.
const readyPatience = 500 * time.Millisecond

// staysReady reports whether the connection is usable.
func (r *remote) staysReady() bool {
	if r.conn.GetState() != connectivity.Ready {
		return false
	}
	patience, cancel := context.WithTimeout(context.Background(), readyPatience)
	defer cancel()
	return !r.conn.WaitForStateChange(patience, connectivity.Ready)
}

// propertyErrors lists the errors of a component provider about single properties (protocol.md 3.8).
func (r *remote) propertyErrors(s subject, st *status.Status) string {
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

// malformed is the error of an answer that cannot be used. The outcome of the operation is uncertain.
func (r *remote) malformed(s subject, format string, args ...any) error {
	return unusable(r.fault(s, format, args...))
}

// fault is the error of an answer that only a provider with a bug gives.
func (r *remote) fault(s subject, format string, args ...any) error {
	return fmt.Errorf("%s: provider %s answered with %w%s", s, r.title(), fmt.Errorf(format, args...), r.bug())
}

// titlePatience is how long a plugin may take to return its version.
const titlePatience = time.Second

// title names the provider in messages about its faults: the plugin with its version and location. The version is the one that the
// plugin reports, since a plugin on the PATH need not have the requested version.
func (r *remote) title() string {
	ctx, cancel := context.WithTimeout(context.Background(), titlePatience)
	defer cancel()
	version := r.version
	if info, err := r.rpc.GetPluginInfo(ctx, &emptypb.Empty{}); err == nil && info.GetVersion() != "" {
		version = info.GetVersion()
	}
	return titleOf(r.name, version, r.place)
}

// bug is the end of a message about a fault of the provider, with the last lines of its output.
func (r *remote) bug() string {
	text := "; this is a bug in the provider"
	if r.process != nil {
		text += below(r.process.LastOutput())
	}
	return text
}

// urns reads the names of resources in an answer.
func (r *remote) urns(s subject, list []string) ([]urn.URN, error) {
	out := make([]urn.URN, 0, len(list))
	for _, text := range list {
		u, err := urn.Parse(text)
		if err != nil {
			return nil, r.malformed(s, "a dependency on something that is not a resource: %w", err)
		}
		out = append(out, u)
	}
	return out, nil
}

// roundTrip makes one call. When the process dies the call ends at once: see [Host.client].
func roundTrip[Req proto.Message, Resp any](
	ctx context.Context, r *remote, s subject,
	rpc func(context.Context, Req, ...grpc.CallOption) (Resp, error), req Req,
) (Resp, error) {
	w := &watch{}
	if r.note != nil && slices.Contains(shortCalls, s.method) {
		number := r.slow.begin(s, r.noteSlow)
		defer func() { r.slow.end(number) }()
	}
	answer, err := rpc(w.in(ctx), req)
	w.collect()
	if err != nil {
		var none Resp
		return none, r.failure(ctx, s, req, err, w)
	}
	return answer, nil
}
