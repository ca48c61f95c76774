package traces

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options say where traces go.
type Options struct {
	URL     string // of a flag; "" leaves it to the environment
	Version string // of sluice
	Lookup  func(string) (string, bool)
}

func (o Options) env(name string) string {
	value, _ := o.Lookup(name)
	return value
}

// Traces are the traces of one command.
type Traces struct {
	place    string // where they go, for messages
	patience time.Duration
	provider *sdktrace.TracerProvider
	relay    *relay // nil if programs and plugins send their spans to the collector
	span     trace.Span
	// variables are what programs and plugins get in their environment.
	variables map[string]string

	mu  sync.Mutex // guards err
	err error      // the first that was reported
}

// defaultPatience is the time that a collector has for a request, and at the end of the command for all that is left.
const defaultPatience = 2 * time.Second

// patience is that time if the variables of OpenTelemetry say nothing else, in milliseconds.
func (o Options) patience() time.Duration {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"} {
		if n, err := strconv.Atoi(strings.TrimSpace(o.env(name))); err == nil && n > 0 {
			return time.Duration(n) * time.Millisecond
		}
	}
	return defaultPatience
}

// queue is how many spans may wait to be sent. What does not fit is lost; nothing waits.
const queue = 1 << 16

// Start begins the traces of a command, and returns the context for it. It returns nil if no traces are wanted. Errors are those of a URL
// that cannot be used; that nothing is at a URL is no error.
func Start(ctx context.Context, command string, o Options) (context.Context, *Traces, error) {
	to, err := o.destination()
	if err != nil || to.scheme == "" {
		return ctx, nil, err
	}
	to.patience = o.patience()
	client, err := to.client()
	if err != nil {
		return ctx, nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return ctx, nil, err
	}
	t := &Traces{place: to.shown, patience: to.patience, variables: map[string]string{}}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.failed))
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "sluice"), attribute.String("service.version", o.Version)), resource.WithFromEnv())
	if err != nil {
		t.failed(err) // a malformed OTEL_RESOURCE_ATTRIBUTES; the rest is used
	}
	batches := []sdktrace.BatchSpanProcessorOption{sdktrace.WithExportTimeout(to.patience)}
	if o.env("OTEL_BSP_MAX_QUEUE_SIZE") == "" {
		batches = append(batches, sdktrace.WithMaxQueueSize(queue))
	}
	t.provider = sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter, batches...), sdktrace.WithResource(about))
	parent := propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{
		"traceparent": o.env("TRACEPARENT"), "tracestate": o.env("TRACESTATE"),
	})
	ctx, t.span = t.provider.Tracer("github.com/sluice-iac/sluice/cmd/sluice").Start(parent, command)
	headers := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	for name, value := range headers {
		t.variables[strings.ToUpper(name)] = value
	}
	if to.forPrograms == "" {
		t.relay = startRelay(client, t.failed)
		to.forPrograms = t.relay.address
	}
	if to.forPrograms != "" {
		t.variables["PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT"] = to.forPrograms
	}
	return ctx, t, nil
}

// Variables returns what the programs and plugins of the command get in their environment, so that their spans belong to it.
func (t *Traces) Variables() map[string]string { return t.variables }

func (t *Traces) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// End ends the span of the command, and sends what is left. The error says that traces are missing; it is no error of the command.
func (t *Traces) End(failed bool) error {
	if failed {
		t.span.SetStatus(codes.Error, "")
	}
	t.span.End()
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	t.relay.stop()
	err := t.provider.Shutdown(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		err = t.err // the first one says most
	}
	if err != nil {
		return fmt.Errorf("traces are missing at %s: %s", t.place, strings.TrimPrefix(err.Error(), "traces export: "))
	}
	return nil
}

// destination is where traces go.
type destination struct {
	scheme, host, path string
	shown              string // without a password
	// forPrograms is the address of a collector to which SDKs can send their spans by gRPC, "" if there is none.
	forPrograms string
	// patience is how long a request may take.
	patience time.Duration
}

// The kinds of destinations. Those without a URL are what the standard variables of the environment say.
const (
	toFile  = "file"
	toGRPC  = "grpc"
	toGRPCS = "grpcs"
	toHTTP  = "http"
	toHTTPS = "https"
	envGRPC = "environment, grpc"
	envHTTP = "environment, http"
)

// ErrAppdash says that a URL is that of a kind of collectors which nobody maintains any more.
var ErrAppdash = errors.New("traces are not sent to a collector of Appdash (tcp://), which has no successor; " +
	"give grpc://, http:// or https:// for one that understands OTLP, or file: for a file")

// destination returns where traces go; its scheme is "" if none are wanted.
func (o Options) destination() (destination, error) {
	if o.URL == "" {
		return o.standard(), nil
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return destination{}, errors.New("it is no URL") // the error would show a password
	}
	to := destination{scheme: u.Scheme, host: u.Host, path: u.Path, shown: u.Redacted()}
	switch u.Scheme {
	case toFile:
		if to.path = u.Opaque; to.path == "" {
			to.path = u.Host + u.Path // file://relative
		}
		if to.path == "" {
			return destination{}, errors.New("name the file: file:traces.jsonl")
		}
		to.shown = to.path
		return to, nil
	case "tcp":
		return destination{}, ErrAppdash
	case toGRPC, toGRPCS, toHTTP, toHTTPS:
	default:
		return destination{}, fmt.Errorf("%q is no place for traces; write file:PATH, grpc://HOST:PORT, grpcs://, http:// or https://", to.shown)
	}
	if u.Host == "" {
		return destination{}, fmt.Errorf("%q names no host", to.shown)
	}
	if u.Scheme == toGRPC {
		to.forPrograms = u.Host
	}
	return to, nil
}

// standard returns the destination that the variables of OpenTelemetry name.
func (o Options) standard() destination {
	endpoint, exporter := o.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), o.env("OTEL_TRACES_EXPORTER")
	if endpoint == "" {
		endpoint = o.env("OTEL_EXPORTER_OTLP_ENDPOINT")
	}
	if endpoint == "" || exporter != "" && exporter != "otlp" || strings.EqualFold(o.env("OTEL_SDK_DISABLED"), "true") {
		return destination{}
	}
	protocol := o.env("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
	if protocol == "" {
		protocol = o.env("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	to := destination{scheme: envHTTP, shown: "the endpoint that OTEL_EXPORTER_OTLP_ENDPOINT names"}
	if u, err := url.Parse(endpoint); err == nil {
		to.shown = u.Redacted()
		if protocol == toGRPC && u.Scheme == toHTTP {
			to.forPrograms = u.Host
		}
	}
	if protocol == toGRPC {
		to.scheme = envGRPC
	}
	return to
}

// client returns what sends spans. It connects to nothing yet.
func (d destination) client() (otlptrace.Client, error) {
	// Nothing is tried again: whoever deploys does not wait for a collector.
	plainGRPC := []otlptracegrpc.Option{otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{}), otlptracegrpc.WithTimeout(d.patience)}
	plainHTTP := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), otlptracehttp.WithTimeout(d.patience)}
	switch d.scheme {
	case toFile:
		f, err := os.OpenFile(d.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		return &file{f: f}, nil
	case toGRPC:
		return otlptracegrpc.NewClient(append(plainGRPC, otlptracegrpc.WithEndpoint(d.host), otlptracegrpc.WithInsecure())...), nil
	case toGRPCS:
		return otlptracegrpc.NewClient(append(plainGRPC, otlptracegrpc.WithEndpoint(d.host))...), nil
	case envGRPC:
		return otlptracegrpc.NewClient(plainGRPC...), nil
	case toHTTP:
		plainHTTP = append(plainHTTP, otlptracehttp.WithInsecure())
	}
	if d.scheme == toHTTP || d.scheme == toHTTPS {
		plainHTTP = append(plainHTTP, otlptracehttp.WithEndpoint(d.host))
		if strings.Trim(d.path, "/") != "" {
			plainHTTP = append(plainHTTP, otlptracehttp.WithURLPath(d.path))
		}
	}
	return otlptracehttp.NewClient(plainHTTP...), nil
}
