package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	measuredpb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// traceEvent is an event of the Trace Event Format.
type traceEvent struct {
	Name  string
	Cat   string
	Ph    string
	TS    float64
	Dur   float64
	PID   int
	TID   int
	ID    int
	BP    string
	Args  map[string]any
	index int
}

// track is a track of a trace.
type track struct{ pid, tid int }

// traceFile is a valid trace.
type traceFile struct {
	events []traceEvent
	names  map[track]string // "workers/worker 1"
	slices map[track][]traceEvent
	arrows map[int][2]traceEvent
}

// readTrace reads a trace and checks what the viewer requires.
func readTrace(t *testing.T, path string) *traceFile {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	f := &traceFile{names: map[track]string{}, slices: map[track][]traceEvent{}, arrows: map[int][2]traceEvent{}}
	require.NoError(t, json.Unmarshal(text, &f.events), "%s", text)
	processes := map[int]string{}
	for i, e := range f.events {
		e.index = i
		at := track{e.PID, e.TID}
		require.GreaterOrEqual(t, e.TS, 0.0)
		switch e.Ph {
		case "M":
			if e.Name == "process_name" {
				processes[e.PID] = e.Args["name"].(string)
			}
			if e.Name == "thread_name" {
				f.names[at] = processes[e.PID] + "/" + e.Args["name"].(string)
			}
		case "X":
			require.Positive(t, e.Dur, e.Name)
			f.slices[at] = append(f.slices[at], e)
		case "s", "f":
			pair := f.arrows[e.ID]
			pair[map[string]int{"s": 0, "f": 1}[e.Ph]] = e
			f.arrows[e.ID] = pair
		case "C":
			for name, n := range e.Args {
				require.GreaterOrEqual(t, n.(float64), 0.0, "%s of %s", name, e.Name)
			}
		default:
			require.Fail(t, "an event of an unknown kind", "%+v", e)
		}
	}
	for at, all := range f.slices {
		require.NotEmpty(t, f.names[at], "a track has a name")
		sort.Slice(all, func(i, j int) bool { return all[i].TS < all[j].TS })
		for i := 1; i < len(all); i++ { // viewers drop overlapping slices; times are in floating point, and exact to the nanosecond
			require.LessOrEqual(t, math.Round(1000*(all[i-1].TS+all[i-1].Dur)), math.Round(1000*all[i].TS), "%s: %s and %s overlap", f.names[at], all[i-1].Name, all[i].Name)
		}
	}
	for id, a := range f.arrows {
		require.Equal(t, "s", a[0].Ph, "arrow %d begins", id)
		require.Equal(t, "f", a[1].Ph, "arrow %d ends", id)
		require.Equal(t, "e", a[1].BP)
		require.Equal(t, a[0].Name+a[0].Cat, a[1].Name+a[1].Cat, "arrow %d is bound by its name and category", id)
		require.NotEmpty(t, a[0].Cat)
		require.LessOrEqual(t, a[0].TS, a[1].TS+0.01)
		require.NotEmpty(t, f.at(a[0]), "arrow %d begins in a slice", id)
		require.NotEmpty(t, f.at(a[1]), "arrow %d ends in a slice", id)
	}
	return f
}

// at returns the name of the slice at an end of an arrow.
func (f *traceFile) at(end traceEvent) string {
	for _, s := range f.slices[track{end.PID, end.TID}] {
		if s.TS <= end.TS+0.0005 && end.TS <= s.TS+s.Dur {
			return s.Name
		}
	}
	return ""
}

// drawn returns the arrows: "create one -> Check two".
func (f *traceFile) drawn() (out []string) {
	for _, a := range f.arrows {
		out = append(out, f.at(a[0])+" -> "+f.at(a[1]))
	}
	return out
}

// find returns the slice of this name on tracks whose names begin with on.
func (f *traceFile) find(on, name string) *traceEvent {
	for at, all := range f.slices {
		if strings.HasPrefix(f.names[at], on) {
			if i := slices.IndexFunc(all, func(e traceEvent) bool { return e.Name == name }); i >= 0 {
				return &all[i]
			}
		}
	}
	return nil
}

func TestATraceOfEachOperationOpensInPerfetto(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": tracedProgram})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	file := l.dir + "/trace.json"
	operation := func(status int, args ...string) *traceFile {
		t.Helper()
		l.run(status, "", append(args, "--trace", file)...)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(text), hard)
		return readTrace(t, file)
	}

	up := operation(0, "up", "--yes")
	for on, slice := range map[string][]string{
		"sluice/sluice up":         {"sluice up"},
		"sluice/preview":           {"preview"},
		"sluice/update":            {"update"},
		"sluice/program":           {"program"},
		"sluice/starts of plugins": {"start provider simple"},
		"sluice/phases":            {"phase open", "phase resolve", "phase run", "phase end", "phase close", "install plugins"},
		"workers/worker":           {"create one", "create two", "create shop-dev"},
		"provider simple (default": {"Check one", "Create one", "Check two", "Create two", "Configure default"},
	} {
		for _, name := range slice {
			require.NotNil(t, up.find(on, name), "%s on %s: %v", name, on, up.names)
		}
	}
	require.Contains(t, up.drawn(), "create one -> Check two")
	create := up.find("workers", "create two").Args
	require.Equal(t, "simple:index:Thing", create["type"])
	require.Equal(t, "new", create["reason"])
	require.Contains(t, create["urn"], "::two")
	require.Contains(t, create["provider"], "simple (default")
	require.True(t, slices.ContainsFunc(up.events, func(e traceEvent) bool { return e.Ph == "C" && e.Name == "resources" && e.Args["running"] == 1.0 }))

	require.NotNil(t, operation(0, "preview").find("provider simple", "Diff two"))
	require.NotNil(t, operation(0, "refresh", "--yes", "--skip-preview").find("provider simple", "Read two"))

	// Failed and unreached resources are in the file.
	l.run(0, "", "config", "set", "simple:tellOn", "delete one")
	l.run(0, "", "up", "--yes", "--skip-preview")
	destroy := operation(1, "destroy", "--yes", "--skip-preview")
	require.Equal(t, true, destroy.find("workers", "delete one").Args["failed"])
	require.Nil(t, destroy.find("workers", "delete two").Args["failed"])
	require.Contains(t, destroy.drawn(), "delete two -> delete one")
	require.Contains(t, l.run(1, "", "import", "simple:index:Thing", "three", "x", "--yes", "--skip-preview", "--trace", file), "three")
	readTrace(t, file)
}

func TestATraceThatCannotBeWrittenIsRefusedBeforeAnythingBegins(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": tracedProgram})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	for _, path := range []string{l.dir + "/nowhere/trace.json", l.dir} {
		shown := l.run(2, "", "up", "--yes", "--skip-preview", "--trace", path)
		require.Contains(t, shown, "--trace: open "+path)
		require.NotContains(t, shown, "Updating")
	}
	_, err := os.Stat(l.dir + "/cloud")
	require.ErrorIs(t, err, os.ErrNotExist, "no provider was asked")
}

const slowProgram = `name: shop
runtime: yaml
resources:
  cloud:
    type: pulumi:providers:sim
    properties: {latency: {create: 1h}}
  slow:
    type: sim:index:Resource
    options: {provider: "${cloud}"}
`

func TestATraceOfAnInterruptedOperationIsWhole(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": slowProgram})
	file := l.dir + "/trace.json"
	cmd := exec.Command(l.sluice, "up", "--yes", "--skip-preview", "--non-interactive", "--trace", file, "--timings")
	var shown notes
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.dir+"/project", l.env, &shown, &shown
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() (begun bool) {
		_ = filepath.WalkDir(l.dir+"/backend", func(path string, _ os.DirEntry, _ error) error {
			text, _ := os.ReadFile(path) // files that disappear are read again later
			begun = begun || strings.Contains(string(text), "sim:index:Resource::slow")
			return nil
		})
		return begun
	}, patience, 100*time.Millisecond, "the create is in the journal")
	require.NoError(t, cmd.Process.Signal(os.Interrupt)) // nothing new begins
	require.Eventually(t, func() bool { return strings.Contains(shown.String(), "^C received") }, patience, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt)) // the provider is asked to abort
	require.Error(t, cmd.Wait())
	f := readTrace(t, file)
	require.NotNil(t, f.find("workers", "create slow"), shown.String())
	require.Contains(t, shown.String(), "Timings of the update")
}

func TestTimingsAreToldOnTheStandardError(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": tracedProgram})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	l.run(0, `[{"name":"one by one","provider":"simple","methods":"create","parallel":1}]`, "config", "set", "sluice:limits", "--raw")
	cmd := exec.Command(l.sluice, "up", "--yes", "--json", "--parallel", "3", "--timings", "--non-interactive")
	var out, errs strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.dir+"/project", l.env, &out, &errs
	require.NoError(t, cmd.Run(), errs.String())
	require.NotContains(t, out.String(), "Timings of")
	for _, line := range []string{
		"Timings of the preview: ", "The program needed ", "Timings of the update: ", "with --parallel 3", "Slowest resources", "create two simple:index:Thing", "Slowest calls of providers",
		"simple Create one", "Calls of providers", "Stages, with the time that resources waited there", "Critical path", "A wider --parallel ",
	} {
		require.Contains(t, errs.String(), line)
	}
	require.NotContains(t, errs.String(), hard)
	path := errs.String()[strings.LastIndex(errs.String(), "Critical path"):]
	require.Less(t, strings.Index(path, "create one"), strings.Index(path, "create two"))
}

// metricsCollector is a collector of metrics.
type metricsCollector struct {
	metricspb.UnimplementedMetricsServiceServer
	mu       sync.Mutex // guards requests
	requests []*metricspb.ExportMetricsServiceRequest
}

func (c *metricsCollector) Export(_ context.Context, req *metricspb.ExportMetricsServiceRequest) (*metricspb.ExportMetricsServiceResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, req)
	return &metricspb.ExportMetricsServiceResponse{}, nil
}

func (c *metricsCollector) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, r := range c.requests {
		b.WriteString(prototext.Format(r))
	}
	return b.String()
}

// counted returns the number of measurements: "sluice.steps create done simple:index:Thing" and so on.
func (c *metricsCollector) counted() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]int{}
	add := func(m *measuredpb.Metric, attributes []*commonpb.KeyValue, n int) {
		var values []string
		for _, a := range attributes {
			values = append(values, a.GetKey()[strings.LastIndex(a.GetKey(), ".")+1:]+"="+a.GetValue().GetStringValue())
		}
		slices.Sort(values)
		out[fmt.Sprint(m.GetName(), " ", strings.Join(values, " "))] = n
	}
	for _, r := range c.requests {
		for _, of := range r.GetResourceMetrics() {
			for _, s := range of.GetScopeMetrics() {
				for _, m := range s.GetMetrics() {
					for _, p := range m.GetHistogram().GetDataPoints() {
						add(m, p.GetAttributes(), int(p.GetCount()))
					}
					for _, p := range m.GetSum().GetDataPoints() {
						add(m, p.GetAttributes(), int(p.GetAsInt()))
					}
				}
			}
		}
	}
	return out
}

func TestMetricsGoToTheCollector(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": tracedProgram})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	m := &metricsCollector{}
	c := newCollectorWith(t, m)
	environment := l.env
	l.env = append(l.env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+c.address, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_RESOURCE_ATTRIBUTES=team=infra",
		"OTEL_SERVICE_NAME=deployer", "OTEL_TRACES_SAMPLER=always_off")
	require.NotContains(t, l.run(0, "", "up", "--yes", "--skip-preview"), "missing")
	require.Subset(t, m.counted(), map[string]int{
		"sluice.operation.duration operation=update outcome=done":                                         1,
		"sluice.provider.call.duration method=Create outcome=done package=simple type=simple:index:Thing": 2,
		"sluice.provider.call.duration method=Check outcome=done package=simple type=simple:index:Thing":  2,
		"sluice.steps op=create outcome=done type=simple:index:Thing":                                     2,
		"sluice.steps.running op=create":                                                                  0,
	})
	require.Contains(t, m.text(), "infra")
	require.Contains(t, m.text(), "deployer")
	require.NotContains(t, m.text(), hard)
	require.Empty(t, c.byID(), "the sampler drops spans, and not what is measured of them")

	// Each signal has variables of its own.
	byHTTP := &metricsCollector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req metricspb.ExportMetricsServiceRequest
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/only" || proto.Unmarshal(body, &req) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = byHTTP.Export(r.Context(), &req)
	}))
	t.Cleanup(server.Close)
	l.env = append(slices.Clone(environment), "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="+server.URL+"/only")
	require.NotContains(t, l.run(0, "", "preview"), "warning")
	require.Equal(t, 2, byHTTP.counted()["sluice.steps op=same outcome=done type=simple:index:Thing"])
	for _, off := range []string{"OTEL_METRICS_EXPORTER=none", "OTEL_SDK_DISABLED=true"} {
		before := byHTTP.text()
		l.env = append(slices.Clone(environment), "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="+server.URL+"/only", off)
		l.run(0, "", "preview")
		require.Equal(t, before, byHTTP.text())
	}

	// A collector that refuses metrics causes a warning without the password.
	l.env = append(slices.Clone(environment), "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="+strings.Replace(server.URL, "://", "://me:pw1234@", 1)+"/wrong")
	shown := l.run(0, "", "preview")
	require.Contains(t, shown, "warning: metrics are missing at http://me:xxxxx@")
	require.NotContains(t, shown, "pw1234")
}
