package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// collector is a collector of traces, for gRPC and HTTP.
type collector struct {
	collectorpb.UnimplementedTraceServiceServer
	t       *testing.T
	address string
	delay   time.Duration // before its answers

	mu    sync.Mutex // guards spans
	spans []*tracepb.ResourceSpans
}

func newCollector(t *testing.T) *collector { return newCollectorWith(t, nil) }

// newCollectorWith returns a collector of traces, and of metrics if metrics is not nil.
func newCollectorWith(t *testing.T, metrics *metricsCollector) *collector {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &collector{t: t, address: l.Addr().String()}
	s := grpc.NewServer()
	collectorpb.RegisterTraceServiceServer(s, c)
	if metrics != nil {
		metricspb.RegisterMetricsServiceServer(s, metrics)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return c
}

func (c *collector) Export(ctx context.Context, req *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	select {
	case <-time.After(c.delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans = append(c.spans, req.GetResourceSpans()...)
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

// span is a span with its parent.
type span struct {
	*tracepb.Span
	service string
}

func attribute(s *tracepb.Span, name string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == name {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

// byID returns the collected spans.
func (c *collector) byID() map[string]span {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]span{}
	for _, r := range c.spans {
		service := ""
		for _, a := range r.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, s := range r.GetScopeSpans() {
			for _, one := range s.GetSpans() {
				all[string(one.GetSpanId())] = span{one, service}
			}
		}
	}
	return all
}

// paths returns the paths of spans from the root, with their URNs' names: "sluice up/update/resource x (one)".
func (c *collector) paths() []string {
	all := c.byID()
	var out []string
	var path func(s span) string
	path = func(s span) string {
		text := s.GetName()
		if u := attribute(s.Span, "sluice.urn"); strings.HasPrefix(text, "resource ") && u != "" {
			text += " (" + u[strings.LastIndex(u, ":")+1:] + ")"
		}
		if above, is := all[string(s.GetParentSpanId())]; is {
			return path(above) + "/" + text
		}
		return text
	}
	for _, s := range all {
		out = append(out, path(s))
	}
	return out
}

func (c *collector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, s := range c.spans {
		b.WriteString(prototext.Format(s))
	}
	return b.String()
}

const tracedProgram = `name: shop
runtime: yaml
config:
  password: {type: string}
resources:
  one:
    type: simple:index:Thing
    properties: {password: "${password}"}
  two:
    type: simple:index:Thing
    properties: {from: "${one.id}"}
`

func TestTracesOfAnUpdateAreATree(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": tracedProgram})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	c := newCollector(t)
	l.env = append(l.env, "TRACEPARENT=00-0123456789abcdef0123456789abcdef-0123456789abcdef-01", "OTEL_RESOURCE_ATTRIBUTES=team=infra")
	l.run(0, "", "up", "--yes", "--skip-preview", "--otel-traces", "grpc://"+c.address)
	const thing = "sluice up/update/program/resource simple:index:Thing"
	call := "pulumirpc.ResourceProvider/"
	require.Subset(t, c.paths(), []string{
		"sluice up", "sluice up/update", "sluice up/update/packages of the program", "sluice up/update/install plugins",
		"sluice up/update/program", "sluice up/update/start provider",
		thing + " (one)", thing + " (one)/register", thing + " (one)/lookup", thing + " (one)/check", thing + " (one)/check/" + call + "Check", thing + " (one)/analyze",
		thing + " (one)/diff", thing + " (one)/build", thing + " (one)/execute", thing + " (one)/execute/create",
		thing + " (one)/execute/create/" + call + "Create", thing + " (two)/execute/create/" + call + "Create",
	})
	for _, s := range c.byID() {
		require.Equal(t, "\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef", string(s.GetTraceId()), "the trace of the caller")
		require.Equal(t, "sluice", s.service)
		require.NotEqual(t, tracepb.Status_STATUS_CODE_ERROR, s.GetStatus().GetCode(), s.GetName())
		require.GreaterOrEqual(t, s.GetEndTimeUnixNano(), s.GetStartTimeUnixNano())
		require.NotContains(t, prototext.Format(s), "sluice.unfinished")
	}
	require.Contains(t, c.text(), "infra")
	require.NotContains(t, c.text(), hard)

	// In a failed update, the spans show the place of the failure, and not its text.
	l.run(0, "", "config", "set", "simple:tellOn", "delete one")
	l.run(0, "", "up", "--yes", "--skip-preview")
	failing := newCollector(t)
	l.run(1, "", "destroy", "--yes", "--skip-preview", "--tracing", "grpc://"+failing.address)
	failed := map[string]bool{}
	for _, s := range failing.byID() {
		if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			failed[s.GetName()] = true
			require.Empty(t, s.GetStatus().GetMessage())
		}
	}
	require.Equal(t, map[string]bool{"sluice destroy": true, "destroy": true, "delete": true, call + "Delete": true}, failed)
	require.NotContains(t, failing.text(), hard)
}

func TestTracesGoToFilesAndByHTTP(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": tracedProgram})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	file := l.dir + "/traces.jsonl"
	l.run(0, "", "preview", "--tracing", "file:"+file)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), hard)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines {
		require.True(t, json.Valid([]byte(line)))
	}
	require.Regexp(t, `"name":"preview"`, string(text))
	require.Regexp(t, `"parentSpanId":"[0-9a-f]{16}"`, string(text))
	require.Regexp(t, `"traceId":"[0-9a-f]{32}"`, string(text))

	// The standard variables alone are enough.
	c := &collector{t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/metrics" {
			http.NotFound(w, r) // like collectors of traces only, for which there is no warning
			return
		}
		var req collectorpb.ExportTraceServiceRequest
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/traces" || r.Header.Get("X-Team") != "infra" || proto.Unmarshal(body, &req) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = c.Export(r.Context(), &req)
	}))
	t.Cleanup(server.Close)
	environment := l.env
	l.env = append(l.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-team=infra", "OTEL_SERVICE_NAME=deployer")
	require.NotContains(t, l.run(0, "", "preview"), "warning")
	require.Contains(t, c.paths(), "sluice preview/preview/program")
	require.Contains(t, c.text(), "deployer")
	l.env = append(l.env, "OTEL_SDK_DISABLED=true")
	before := len(c.byID())
	l.run(0, "", "preview")
	require.Len(t, c.byID(), before)
	l.env = environment
}

func TestACollectorThatIsNotThereCostsOneWarning(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": tracedProgram})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts nothing
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	for _, url := range []string{
		"grpc://" + closed.Addr().String(), "http://me:pw@" + closed.Addr().String(), "grpc://" + silent.Addr().String(), "http://" + silent.Addr().String(),
	} {
		shown := l.run(0, "", "preview", "--otel-traces", url)
		require.Len(t, regexp.MustCompile(`(?m)^warning: traces are missing at `).FindAllString(shown, -1), 1, shown)
		require.NotContains(t, shown, "me:pw")
	}
	for url, says := range map[string]string{
		"zipkin://x": "cannot send traces to", "grpc://": "has no host name", "file:": "name the file", "file:/nowhere/x": "no such file",
	} {
		require.Contains(t, l.run(2, "", "preview", "--otel-traces", url), says)
	}
	require.Contains(t, l.run(0, "", "preview", "--tracing", "tcp://127.0.0.1:7701"), "Appdash")
}

// A collector has the time for a request that the standard variables set.
func TestASlowCollectorGetsTheTimeThatItIsGiven(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": tracedProgram})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	l.env = append(l.env, "OTEL_EXPORTER_OTLP_TIMEOUT=60000")
	slow := newCollector(t)
	slow.delay = 4 * time.Second
	require.NotContains(t, l.run(0, "", "preview", "--otel-traces", "grpc://"+slow.address), "traces are missing")
	require.Contains(t, slow.paths(), "sluice preview/preview/program")
	l.env = append(l.env, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=1")
	require.Contains(t, l.run(0, "", "preview", "--otel-traces", "grpc://"+slow.address), "traces are missing")
}

func TestProgramsAndPluginsBelongToTheTrace(t *testing.T) {
	tier.Slow(t, "Node.js")
	t.Parallel()
	l := newLeaks(t, map[string]string{
		"Pulumi.yaml": "name: shop\nruntime: nodejs\n", "package.json": `{"name": "shop"}`,
		"index.js": `
const pulumi = require("@pulumi/pulumi");
console.log("parent " + process.env.TRACEPARENT + " at " + process.env.PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT);
new pulumi.CustomResource("simple:index:Thing", "one", {});
`,
	})
	modules, err := filepath.Abs("../../source/nodejs/testdata/program")
	require.NoError(t, err)
	require.NoError(t, nodesdk.Install(modules))
	require.NoError(t, os.Symlink(modules+"/node_modules", l.dir+"/project/node_modules"))
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	c := newCollector(t)
	shown := l.run(0, "", "up", "--yes", "--skip-preview", "--otel-traces", "grpc://"+c.address)
	require.Regexp(t, `parent 00-[0-9a-f]{32}-[0-9a-f]{16}-01 at `+regexp.QuoteMeta(c.address), shown)
	var first []byte
	services := map[string]bool{}
	for _, s := range c.byID() {
		if first == nil {
			first = s.GetTraceId()
		}
		require.Equal(t, first, s.GetTraceId())
		services[s.service] = true
	}
	require.Equal(t, map[string]bool{"sluice": true, "pulumi-sdk-nodejs": true}, services)
	call := "sluice up/update/program/grpc.pulumirpc.ResourceMonitor/RegisterResource"
	require.Subset(t, c.paths(), []string{call, call + "/resource simple:index:Thing (one)/execute/create"})

	// If SDKs cannot send their spans themselves, the command passes them on.
	file := l.dir + "/traces.jsonl"
	shown = l.run(0, "", "preview", "--otel-traces", "file:"+file)
	require.Regexp(t, `parent .* at 127.0.0.1:[0-9]+`, shown)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "pulumi-sdk-nodejs")
	traces := map[string]bool{}
	for _, m := range regexp.MustCompile(`"traceId":"[0-9a-f]*"`).FindAllString(string(text), -1) {
		traces[m] = true
	}
	require.Len(t, traces, 1)
}
