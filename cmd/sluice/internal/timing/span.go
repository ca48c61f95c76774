package timing

import (
	"context"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/urn"
)

// kind is the kind of a span.
type kind uint8

const (
	kindOther     kind = iota
	kindCommand        // the whole command
	kindOperation      // a preview, update and so on
	kindPhase          // of an operation
	kindProgram        // from its start to its end
	kindPlugin         // the start of a provider
	kindResource       // from a registration to its reply
	kindStage          // of a registration
	kindStep           // a create, update and so on
	kindCall           // of a provider
	kindWait           // for a limit or a worker
)

// limitOfWorkers is the name of the limit for tasks that wait for a free worker.
const limitOfWorkers = "workers"

// span is a span of the library. Other spans are ignored.
type span struct {
	kind       kind
	id         trace.SpanID
	name       string
	start, end time.Time // end is zero while it is running
	failed     bool
	labels
	// above is the parent span, nil if it is unknown. operation is the operation of the span. resource is its registration, or its step if
	// there is no registration.
	above, operation, resource *span

	links func() []sdktrace.Link // to its predecessors
	took  parts
	// flows is true after arrows to the slices of a resource have been drawn.
	flows bool
}

// labels are the decoded attributes of a span.
type labels struct {
	urn, provider        urn.URN
	typ                  urn.Type
	op, method, limit    string
	pkg, version, reason string
	properties           []string
	parallel             int
	unfinished           bool
}

// parts are the parts of the time of a resource.
type parts struct {
	queued time.Time     // when it reached the stage that executes
	steps  time.Duration // its steps, with the calls in them
	calls  time.Duration // provider calls for it
	waits  time.Duration // waits for limits
}

func (s *span) duration() time.Duration { return s.end.Sub(s.start) }

// isIn reports whether a span has an ancestor of a kind.
func (s *span) isIn(k kind) bool {
	for above := s.above; above != nil; above = above.above {
		if above.kind == k {
			return true
		}
	}
	return false
}

// provides returns the name of the provider of a span: its resource's and its package's.
func (s *span) provides() string {
	pkg := s.pkg
	if s.provider != "" {
		if pkg == "" {
			pkg = s.provider.Type().ProviderPackage()
		}
		return pkg + " (" + s.provider.Name() + ")"
	}
	return pkg
}

// sink processes spans. Its methods are never called concurrently.
type sink interface {
	began(s *span)
	ended(s *span)
}

// Collector passes the spans of a command to sinks. It is a [sdktrace.SpanProcessor].
type Collector struct {
	scopes []string
	sinks  []sink

	mu   sync.Mutex // guards the rest, and the data of the sinks
	open map[trace.SpanID]*span
}

var _ sdktrace.SpanProcessor = (*Collector)(nil)

// Sink is a consumer of spans: [File], [Timings] or [Metrics].
type Sink interface{ sink }

// NewCollector returns the collector of the spans that have one of these scopes.
func NewCollector(scopes []string, sinks ...Sink) *Collector {
	c := &Collector{scopes: scopes, open: map[trace.SpanID]*span{}}
	for _, s := range sinks {
		c.sinks = append(c.sinks, s)
	}
	return c
}

// OnStart implements [sdktrace.SpanProcessor].
func (c *Collector) OnStart(_ context.Context, of sdktrace.ReadWriteSpan) {
	if !c.isOurs(of) {
		return
	}
	s := &span{id: of.SpanContext().SpanID(), name: of.Name(), start: of.StartTime(), links: of.Links}
	s.read(of.Attributes())
	c.mu.Lock()
	defer c.mu.Unlock()
	parent := of.Parent()
	s.above = c.open[parent.SpanID()]
	s.kind = s.kindOf(!parent.IsValid() || parent.IsRemote())
	s.place()
	c.open[s.id] = s
	for _, to := range c.sinks {
		to.began(s)
	}
}

// OnEnd implements [sdktrace.SpanProcessor].
func (c *Collector) OnEnd(of sdktrace.ReadOnlySpan) {
	if !c.isOurs(of) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.open[of.SpanContext().SpanID()]
	if s == nil {
		return
	}
	delete(c.open, s.id)
	s.read(of.Attributes())
	s.end, s.failed = of.EndTime(), of.Status().Code == codes.Error
	s.count()
	for _, to := range c.sinks {
		to.ended(s)
	}
}

// ForceFlush implements [sdktrace.SpanProcessor].
func (*Collector) ForceFlush(context.Context) error { return nil }

// Shutdown implements [sdktrace.SpanProcessor].
func (*Collector) Shutdown(context.Context) error { return nil }

func (c *Collector) isOurs(s sdktrace.ReadOnlySpan) bool {
	name := s.InstrumentationScope().Name
	for _, scope := range c.scopes {
		if name == scope {
			return true
		}
	}
	return false
}

// read decodes the attributes.
func (l *labels) read(attributes []attribute.KeyValue) {
	for _, a := range attributes {
		switch a.Key {
		case "sluice.urn":
			l.urn = urn.URN(a.Value.AsString())
		case "sluice.type", "sluice.token":
			l.typ = urn.Type(a.Value.AsString())
		case "sluice.provider":
			l.provider = urn.URN(a.Value.AsString())
		case "sluice.package":
			l.pkg = a.Value.AsString()
		case "sluice.version":
			l.version = a.Value.AsString()
		case "sluice.op":
			l.op = a.Value.AsString()
		case "sluice.reason":
			l.reason = a.Value.AsString()
		case "sluice.properties":
			l.properties = a.Value.AsStringSlice()
		case "sluice.limit":
			l.limit = a.Value.AsString()
		case "sluice.parallel":
			l.parallel = int(a.Value.AsInt64())
		case "sluice.unfinished":
			l.unfinished = a.Value.AsBool()
		case "rpc.method":
			l.method = a.Value.AsString()
		}
	}
}

// kindOf derives the kind of a span from its attributes and its parent. isFirst is true for the first span of this process.
func (s *span) kindOf(isFirst bool) kind {
	switch {
	case s.limit != "":
		return kindWait
	case s.method != "":
		return kindCall
	case strings.HasPrefix(s.name, "resource "):
		return kindResource
	case s.op != "":
		return kindStep
	case s.parallel > 0:
		return kindOperation
	case isFirst:
		return kindCommand
	case s.above == nil:
		return kindOther
	case s.above.kind == kindResource:
		return kindStage
	case s.name == "program":
		return kindProgram
	case s.name == "start provider":
		return kindPlugin
	case s.above.kind == kindOperation:
		return kindPhase
	}
	return kindOther
}

// place finds the operation and the resource that a span belongs to.
func (s *span) place() {
	if s.above != nil {
		s.operation, s.resource = s.above.operation, s.above.resource
	}
	switch {
	case s.kind == kindOperation:
		s.operation = s
	case s.kind == kindResource, s.kind == kindStep && s.resource == nil:
		s.resource = s
	}
}

// count adds an ended span to the parts of its resource.
func (s *span) count() {
	of := s.resource
	if of == nil {
		return
	}
	switch s.kind {
	case kindStage:
		if s.name == "execute" {
			of.took.queued = s.start
		}
	case kindStep:
		if !s.above.isStep() { // otherwise its step counts it
			of.took.steps += s.duration()
		}
	case kindCall:
		of.took.calls += s.duration()
	case kindWait:
		of.took.waits += s.duration()
	}
}

func (s *span) isStep() bool { return s != nil && s.kind == kindStep }

// title returns the title of a slice: "create web", "Check web".
func (s *span) title() string {
	name := s.name
	switch {
	case s.kind == kindCall:
		name = s.method
	case s.kind == kindPlugin && s.pkg != "":
		return name + " " + s.pkg
	}
	switch {
	case s.urn != "":
		return name + " " + s.urn.Name()
	case s.kind == kindCall && s.typ != "":
		return name + " " + string(s.typ)
	}
	return name
}

func (s *span) category() string {
	switch s.kind {
	case kindCall:
		return "provider"
	case kindStep:
		return "step"
	}
	return "engine"
}

// arguments returns the details of a selected slice.
func (s *span) arguments() any {
	out := struct {
		URN        string   `json:"urn,omitempty"`
		Type       string   `json:"type,omitempty"`
		Provider   string   `json:"provider,omitempty"`
		Version    string   `json:"version,omitempty"`
		Reason     string   `json:"reason,omitempty"`
		Properties []string `json:"properties,omitempty"`
		Failed     bool     `json:"failed,omitempty"`
		Unfinished bool     `json:"unfinished,omitempty"`
	}{
		string(s.urn), string(s.typ), s.provides(), s.version, s.reason, s.properties, s.failed, s.unfinished,
	}
	return out
}

// needs returns how long a resource takes without waits for workers.
func (s *span) needs() time.Duration {
	if s.kind == kindStep || s.took.queued.IsZero() {
		return s.duration()
	}
	return s.took.queued.Sub(s.start) + s.took.steps
}
