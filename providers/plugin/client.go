package plugin

import (
	"cmp"
	"context"
	"fmt"
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
	"google.golang.org/grpc/status"
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
