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

	"github.com/sourcegraph/conc"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/timing"
)

// Options define the destination of traces.
type Options struct {
	URL     string // the value of a flag; "" uses the environment
	Version string // of sluice
	Lookup  func(string) (string, bool)
	// Sinks process all spans of this process, including those that are not sent.
	Sinks []timing.Sink
}

// scope is the name of the instrumentation of the command, and library that of the library.
const (
	scope   = "github.com/sluice-iac/sluice/cmd/sluice"
	library = "github.com/sluice-iac/sluice"
)

func (o Options) env(name string) string {
	value, _ := o.Lookup(name)
	return value
}

// Traces are the traces of one command.
type Traces struct {
	place    destination
	patience time.Duration
	provider *sdktrace.TracerProvider
	metrics  *metrics // nil if there are none
	relay    *relay   // nil if programs and plugins send their spans to the collector
	span     trace.Span
	// variables are added to the environment of programs and plugins.
	variables map[string]string

	mu  sync.Mutex // guards err
	err error      // the first error
}

// defaultPatience limits the time of a request to a collector, and of sending the rest at the end of the command.
const defaultPatience = 2 * time.Second

// patience returns that limit, or the one that the variables of OpenTelemetry set in milliseconds. signal is TRACES or METRICS.
func (o Options) patience(signal string) time.Duration {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"} {
		if n, err := strconv.Atoi(strings.TrimSpace(o.env(name))); err == nil && n > 0 {
			return time.Duration(n) * time.Millisecond
		}
	}
	return defaultPatience
}

// queue is the number of spans that may wait to be sent. Further spans are dropped, so nothing blocks.
const queue = 1 << 16

// Start begins the traces and metrics of a command, and returns the context for it. It returns nil if none are requested. It returns an error for
// an unusable URL, but not for a server that cannot be reached.
func Start(ctx context.Context, command string, o Options) (context.Context, *Traces, error) {
	to, err := o.destination()
	if err != nil {
		return ctx, nil, err
	}
	if to.scheme == "" && len(o.Sinks) == 0 && o.standard("METRICS").scheme == "" {
		return ctx, nil, nil
	}
	t := &Traces{place: to, patience: o.patience("TRACES"), variables: map[string]string{}}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "sluice"), attribute.String("service.version", o.Version)), resource.WithFromEnv())
	if err != nil {
		t.failed(err) // a malformed OTEL_RESOURCE_ATTRIBUTES; the rest is used
	}
	sinks := o.Sinks
	var measured *timing.Metrics
	if t.metrics, measured, err = o.startMetrics(ctx, about); err != nil {
		return ctx, nil, err
	}
	if t.metrics != nil {
		sinks = append(sinks[:len(sinks):len(sinks)], measured)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.failed))
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(about)}
	if len(sinks) > 0 {
		options = append(options,
			sdktrace.WithSampler(recorded{o.sampler(to)}), sdktrace.WithSpanProcessor(timing.NewCollector([]string{scope, library}, sinks...)))
	}
	var client otlptrace.Client
	if to.scheme != "" {
		if client, err = to.client(t.patience); err != nil {
			return ctx, nil, err
		}
		exporter, err := otlptrace.New(ctx, client)
		if err != nil {
			return ctx, nil, err
		}
		options = append(options, sdktrace.WithBatcher(exporter, o.batches(t.patience)...))
	}
	t.provider = sdktrace.NewTracerProvider(options...)
	parent := propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{
		"traceparent": o.env("TRACEPARENT"), "tracestate": o.env("TRACESTATE"),
	})
	ctx, t.span = t.provider.Tracer(scope).Start(parent, command)
	if client != nil {
		t.tellPrograms(ctx, client)
	}
	return ctx, t, nil
}

// batches returns the options of a span processor.
func (o Options) batches(patience time.Duration) []sdktrace.BatchSpanProcessorOption {
	batches := []sdktrace.BatchSpanProcessorOption{sdktrace.WithExportTimeout(patience)}
	if o.env("OTEL_BSP_MAX_QUEUE_SIZE") == "" {
		batches = append(batches, sdktrace.WithMaxQueueSize(queue))
	}
	return batches
}

// tellPrograms makes the variables by which programs and plugins find the destination of their spans.
func (t *Traces) tellPrograms(ctx context.Context, client otlptrace.Client) {
	headers := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, headers)
	for name, value := range headers {
		t.variables[strings.ToUpper(name)] = value
	}
	address := t.place.forPrograms
	if address == "" {
		t.relay = startRelay(client, t.failed)
		address = t.relay.address
	}
	if address != "" {
		t.variables["PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT"] = address
	}
}

// Variables returns variables for the environment of the command's programs and plugins, so that their spans belong to it.
func (t *Traces) Variables() map[string]string { return t.variables }

func (t *Traces) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// End ends the span of the command, and sends the rest. Its errors report that traces or metrics are missing; they are not errors of the command.
func (t *Traces) End(failed bool) []error {
	if failed {
		t.span.SetStatus(codes.Error, "")
	}
	t.span.End()
	ctx, cancel := context.WithTimeout(context.Background(), t.patience)
	defer cancel()
	t.relay.stop()
	var missing []error
	var metrics conc.WaitGroup
	var unmeasured error
	metrics.Go(func() { unmeasured = t.metrics.end() })
	if err := t.endSpans(ctx); err != nil {
		missing = append(missing, err)
	}
	metrics.Wait()
	if unmeasured != nil {
		missing = append(missing, unmeasured)
	}
	return missing
}

func (t *Traces) endSpans(ctx context.Context) error {
	err := t.provider.Shutdown(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		err = t.err // the first error is the most specific
	}
	if err != nil && t.place.scheme != "" {
		return t.place.missing("traces", err)
	}
	return nil
}

// missing returns the error for traces or metrics that could not be sent.
func (d destination) missing(what string, err error) error {
	text := strings.TrimPrefix(err.Error(), "traces export: ")
	if d.secret != "" {
		text = strings.ReplaceAll(text, d.secret, "xxxxx")
	}
	return fmt.Errorf("%s are missing at %s: %s", what, d.shown, text)
}

// destination is the destination of traces.
type destination struct {
	scheme, host, path string
	shown              string // without a password
	// forPrograms is the address of a collector that receives the spans of SDKs by gRPC, "" if there is none.
	forPrograms string
	// secret is the password of the URL, "" if it has none.
	secret string
}

// The schemes of destinations. A destination without a URL uses the standard variables of the environment.
const (
	toFile  = "file"
	toGRPC  = "grpc"
	toGRPCS = "grpcs"
	toHTTP  = "http"
	toHTTPS = "https"
	envGRPC = "environment, grpc"
	envHTTP = "environment, http"
)

// ErrAppdash is returned for the URL of an Appdash collector, which is no longer maintained.
var ErrAppdash = errors.New("traces are not sent to a collector of Appdash (tcp://), which has no successor; " +
	"give grpc://, http:// or https:// for one that understands OTLP, or file: for a file")

// destination returns the destination of traces; its scheme is "" if none are requested.
func (o Options) destination() (destination, error) {
	if o.URL == "" {
		return o.standard("TRACES"), nil
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return destination{}, errors.New("it is not a URL") // the error of Parse would show a password
	}
	to := destination{scheme: u.Scheme, host: u.Host, path: u.Path, shown: u.Redacted()}
	to.secret, _ = u.User.Password()
	switch u.Scheme {
	case toFile:
		if to.path = u.Opaque; to.path == "" {
			to.path = u.Host + u.Path // of file://relative
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
		return destination{}, fmt.Errorf("cannot send traces to %q: write file:PATH, grpc://HOST:PORT, grpcs://, http:// or https://", to.shown)
	}
	if u.Host == "" {
		return destination{}, fmt.Errorf("%q has no host name", to.shown)
	}
	if u.Scheme == toGRPC {
		to.forPrograms = u.Host
	}
	return to, nil
}

// standard returns the destination that the variables of OpenTelemetry name for a signal, TRACES or METRICS.
func (o Options) standard(signal string) destination {
	name := "OTEL_EXPORTER_OTLP_" + signal + "_ENDPOINT"
	endpoint, exporter := o.env(name), o.env("OTEL_"+signal+"_EXPORTER")
	if endpoint == "" {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT"
		endpoint = o.env(name)
	}
	if endpoint == "" || exporter != "" && exporter != "otlp" || strings.EqualFold(o.env("OTEL_SDK_DISABLED"), "true") {
		return destination{}
	}
	protocol := o.env("OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL")
	if protocol == "" {
		protocol = o.env("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	to := destination{scheme: envHTTP, shown: "the endpoint that " + name + " names"}
	if u, err := url.Parse(endpoint); err == nil {
		to.shown = u.Redacted()
		to.secret, _ = u.User.Password()
		if protocol == toGRPC && u.Scheme == toHTTP {
			to.forPrograms = u.Host
		}
	}
	if protocol == toGRPC {
		to.scheme = envGRPC
	}
	return to
}

// startMetrics begins to send metrics to the destination of the standard variables; nil if they name none.
func (o Options) startMetrics(ctx context.Context, about *resource.Resource) (*metrics, *timing.Metrics, error) {
	to := o.standard("METRICS")
	if to.scheme == "" {
		return nil, nil, nil
	}
	patience := o.patience("METRICS")
	var exporter sdkmetric.Exporter
	var err error
	if to.scheme == envGRPC {
		exporter, err = otlpmetricgrpc.New(ctx, otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{}), otlpmetricgrpc.WithTimeout(patience))
	} else {
		exporter, err = otlpmetrichttp.New(ctx, otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}), otlpmetrichttp.WithTimeout(patience))
	}
	if err != nil {
		return nil, nil, err
	}
	m := &metrics{place: to, patience: patience, exporter: &tolerant{Exporter: exporter}}
	m.provider = sdkmetric.NewMeterProvider(sdkmetric.WithResource(about),
		sdkmetric.WithReader(sdkmetric.NewPeriodicReader(m.exporter, sdkmetric.WithTimeout(patience))))
	sink, err := timing.NewMetrics(m.provider.Meter(scope))
	return m, sink, err
}

// sampler returns the sampler that OTEL_TRACES_SAMPLER names, as the SDK parses it. The SDK has no other way to wrap it. Without a
// destination nothing is sent: the decision of the caller's trace is passed on, so that plugins that send spans of their own still do.
func (o Options) sampler(to destination) sdktrace.Sampler {
	if to.scheme == "" {
		return sdktrace.ParentBased(sdktrace.NeverSample())
	}
	name, ofParent := strings.CutPrefix(strings.ToLower(strings.TrimSpace(o.env("OTEL_TRACES_SAMPLER"))), "parentbased_")
	var root sdktrace.Sampler
	switch name {
	case "always_on":
		root = sdktrace.AlwaysSample()
	case "always_off":
		root = sdktrace.NeverSample()
	case "traceidratio":
		ratio, err := strconv.ParseFloat(strings.TrimSpace(o.env("OTEL_TRACES_SAMPLER_ARG")), 64)
		if err != nil || ratio < 0 || ratio > 1 {
			ratio = 1
		}
		root = sdktrace.TraceIDRatioBased(ratio)
	default:
		return sdktrace.ParentBased(sdktrace.AlwaysSample())
	}
	if ofParent {
		return sdktrace.ParentBased(root)
	}
	return root
}

// client returns a client that sends spans. It does not connect yet.
func (d destination) client(patience time.Duration) (otlptrace.Client, error) {
	// There are no retries: a deployment does not wait for a collector.
	plainGRPC := []otlptracegrpc.Option{otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{}), otlptracegrpc.WithTimeout(patience)}
	plainHTTP := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}), otlptracehttp.WithTimeout(patience)}
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

// recorded makes the spans that a sampler drops visible to processors in this process. They are not sent.
type recorded struct{ sent sdktrace.Sampler }

// ShouldSample implements [sdktrace.Sampler].
func (r recorded) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	result := r.sent.ShouldSample(p)
	if result.Decision == sdktrace.Drop {
		result.Decision = sdktrace.RecordOnly
	}
	return result
}

// Description implements [sdktrace.Sampler].
func (r recorded) Description() string { return "Recorded(" + r.sent.Description() + ")" }
