package timing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

var update = flag.Bool("update", false, "write the golden files")

var began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// story makes spans at given times, in milliseconds from the beginning.
type story struct {
	tracer trace.Tracer
	now    int
}

func newStory(sinks ...Sink) *story {
	p := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(NewCollector([]string{"library"}, sinks...)))
	p.Tracer("another").Start(context.Background(), "of somebody else")
	return &story{tracer: p.Tracer("library")}
}

func (s *story) clock() time.Time { return began.Add(time.Duration(s.now) * time.Millisecond) }

func (s *story) start(at int, below context.Context, name string, attributes ...attribute.KeyValue) context.Context {
	s.now = at
	ctx, _ := s.tracer.Start(below, name, trace.WithTimestamp(s.clock()), trace.WithAttributes(attributes...))
	return ctx
}

func (s *story) end(at int, ctx context.Context) {
	s.now = at
	trace.SpanFromContext(ctx).End(trace.WithTimestamp(s.clock()))
}

func (s *story) fail(at int, ctx context.Context) {
	trace.SpanFromContext(ctx).SetStatus(codes.Error, "")
	s.end(at, ctx)
}

var text = attribute.String

func urnOf(name string) string { return "urn:pulumi:dev::shop::sim:index:Resource::" + name }

// resource registers a resource that comes after others, up to its step.
func (s *story) resource(at int, program context.Context, name string, after ...context.Context) (resource, execute context.Context) {
	resource = s.start(at, program, "resource sim:index:Resource", text("sluice.type", "sim:index:Resource"))
	span := trace.SpanFromContext(resource)
	span.SetAttributes(text("sluice.urn", urnOf(name)), text("sluice.op", "create"))
	for _, one := range after {
		span.AddLink(trace.Link{SpanContext: trace.SpanContextFromContext(one)})
	}
	check := s.start(at, resource, "check")
	s.end(at+10, s.call(at, check, "Check", name))
	s.end(at+10, check)
	return resource, s.start(at+10, resource, "execute")
}

func (s *story) call(at int, below context.Context, method, name string) context.Context {
	return s.start(at, below, "pulumirpc.ResourceProvider/"+method, text("rpc.method", method), text("sluice.package", "sim"), text("sluice.urn", urnOf(name)),
		text("sluice.type", "sim:index:Resource"), text("sluice.provider", "urn:pulumi:dev::shop::pulumi:providers:sim::cloud"))
}

// create makes the step of a resource.
func (s *story) create(from int, execute context.Context, name string) (step, call context.Context) {
	step = s.start(from, execute, "create", text("sluice.op", "create"), text("sluice.urn", urnOf(name)), text("sluice.type", "sim:index:Resource"),
		text("sluice.reason", "new"))
	return step, s.call(from, step, "Create", name)
}

func (s *story) over(at int, all ...context.Context) {
	for _, ctx := range all {
		s.end(at, ctx)
	}
}

// update makes the spans of an update with one worker: base, then the web server that depends on it, while other waits for the
// worker; then a delete that fails.
func (s *story) update() {
	command := s.start(0, context.Background(), "sluice up")
	operation := s.start(10, command, "update", attribute.Int("sluice.parallel", 1), attribute.Bool("sluice.dry_run", false))
	s.end(40, s.start(20, operation, "phase open"))
	plugin := s.start(40, operation, "start provider", text("sluice.package", "sim"))
	program := s.start(50, operation, "program")
	s.end(60, plugin)
	base, execute := s.resource(100, program, "base")
	step, call := s.create(110, execute, "base")
	other, otherExecutes := s.resource(120, program, "other")
	busy := s.start(130, operation, "wait for limit", text("sluice.limit", "workers"))
	s.over(1110, call, step, execute, base)
	s.end(1110, busy)
	otherStep, otherCall := s.create(1110, otherExecutes, "other")
	web, execute := s.resource(1120, program, "web", base)
	busy = s.start(1130, operation, "wait for limit", text("sluice.limit", "workers"))
	s.over(1610, otherCall, otherStep, otherExecutes, other)
	s.end(1610, busy)
	step = s.start(1610, execute, "create", text("sluice.op", "create"), text("sluice.urn", urnOf("web")))
	limit := s.start(1610, step, "wait for limit", text("sluice.limit", "few \x1b"), text("sluice.urn", urnOf("web")), text("rpc.method", "create"))
	s.end(1710, limit)
	call = s.call(1710, step, "Create", "web")
	s.over(2010, call, step, execute, web, program)
	gone := s.start(2010, operation, "delete", text("sluice.op", "delete"), text("sluice.urn", urnOf("old")))
	call = s.call(2010, gone, "Delete", "old")
	s.fail(2110, call)
	s.fail(2110, gone)
	s.over(2210, operation, command)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile("testdata/"+name, []byte(got), 0o644))
	}
	want, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestTimingsOfAnUpdate(t *testing.T) {
	timings := NewTimings()
	newStory(timings).update()
	var out strings.Builder
	require.NoError(t, timings.Write(&out))
	golden(t, "timings.txt", out.String())
}

// written is a file in memory.
type written struct {
	bytes.Buffer
	closed bool
	fails  error
}

func (w *written) Write(p []byte) (int, error) {
	if w.fails != nil {
		return 0, w.fails
	}
	return w.Buffer.Write(p)
}

func (w *written) Close() error {
	w.closed = true
	return nil
}

// toFile writes a story to a file.
func toFile(to io.WriteCloser, tell func(*story)) error {
	s := &story{}
	f := newFile(to, func() time.Time { return s.clock() })
	own := newStory(f)
	s.tracer = own.tracer
	tell(s)
	return f.Close()
}

func TestTheTraceOfAnUpdate(t *testing.T) {
	w := &written{}
	require.NoError(t, toFile(w, (*story).update))
	require.True(t, w.closed)
	golden(t, "trace.json", w.String())
	require.True(t, json.Valid(w.Bytes()))
}

func TestATraceOfNothingIsAnEmptyList(t *testing.T) {
	w := &written{}
	require.NoError(t, toFile(w, func(*story) {}))
	require.JSONEq(t, "[]", w.String())
}

func TestWhatIsCutOffIsInTheTrace(t *testing.T) {
	w := &written{}
	require.NoError(t, toFile(w, func(s *story) {
		operation := s.start(0, context.Background(), "update", attribute.Int("sluice.parallel", 1))
		_, execute := s.resource(10, operation, "a")
		s.create(20, execute, "a")
		s.now = 1500
	}))
	var events []map[string]any
	require.NoError(t, json.Unmarshal(w.Bytes(), &events))
	cut := map[string]any{}
	for _, e := range events {
		if args, _ := e["args"].(map[string]any); e["ph"] == "X" && args["unfinished"] == true {
			cut[e["name"].(string)] = e["dur"]
		}
	}
	require.Equal(t, map[string]any{"update": 1500000.0, "create a": 1480000.0, "Create a": 1480000.0}, cut)
}

// A killed process leaves whole lines, so that the file can be opened.
func TestATraceGrowsWhileItIsWritten(t *testing.T) {
	w := &written{}
	require.NoError(t, toFile(w, func(s *story) {
		s.end(10, s.start(0, context.Background(), "program"))
		require.Zero(t, w.Len())
		s.end(1200, s.start(1100, context.Background(), "program"))
		var events []any
		require.NoError(t, json.Unmarshal([]byte(w.String()+"]"), &events))
		require.NotEmpty(t, events)
	}))
}

func TestATraceThatCannotBeWrittenSaysSoAtTheEnd(t *testing.T) {
	full := errors.New("no space left")
	require.ErrorIs(t, toFile(&written{fails: full}, (*story).update), full)
}

func TestSpansThatFollowEachOtherShareATrack(t *testing.T) {
	var l lanes
	require.Equal(t, []int{0, 1}, []int{l.take(0), l.take(0)})
	l.free(0, 5)
	require.Equal(t, []int{2, 0}, []int{l.take(4), l.take(5)}, "a span that began before the end of another one has a lane of its own")
}

func TestIntervalsThatOverlapCountOnce(t *testing.T) {
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	for name, c := range map[string]struct {
		intervals [][2]int
		want      int
	}{
		"none": {nil, 0}, "apart": {[][2]int{{0, 1}, {5, 7}}, 3}, "touching": {[][2]int{{0, 2}, {2, 4}}, 4}, "within": {[][2]int{{2, 3}, {0, 9}}, 9},
		"joining": {[][2]int{{0, 2}, {4, 6}, {1, 5}}, 6}, "late": {[][2]int{{6, 8}, {0, 2}, {1, 7}}, 8}, "early": {[][2]int{{6, 8}, {0, 2}}, 4},
	} {
		var u union
		for _, i := range c.intervals {
			u.add(at(i[0]), at(i[1]))
		}
		require.Equal(t, time.Duration(c.want)*time.Millisecond, u.total(), name)
		require.Equal(t, len(c.intervals), u.count)
	}
}

func TestQuantilesAreDurationsThatOccurred(t *testing.T) {
	var d durations
	for i := 20; i > 0; i-- {
		d.add(time.Duration(i))
	}
	require.Equal(t, []time.Duration{10, 19, 20, 1}, []time.Duration{d.quantile(0.5), d.quantile(0.95), d.quantile(1), d.quantile(0)})
}

func TestOnlyTheSlowestAreKept(t *testing.T) {
	l := longest[string]{most: 2}
	for i, name := range []string{"a", "b", "c", "d"} {
		l.add([]time.Duration{2, 5, 2, 3}[i], func() string { return name })
	}
	require.Equal(t, []timed[string]{{5, "b"}, {3, "d"}}, l.entries)
}

func TestMetricsOfAnUpdate(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	m, err := NewMetrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("test"))
	require.NoError(t, err)
	newStory(m).update()
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &data))
	got := map[string]any{}
	label := func(name string, set attribute.Set) string {
		for _, a := range set.ToSlice() {
			name += " " + a.Value.AsString()
		}
		return name
	}
	for _, one := range data.ScopeMetrics[0].Metrics {
		switch points := one.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, p := range points.DataPoints {
				got[label(one.Name, p.Attributes)] = p.Sum
			}
		case metricdata.Sum[int64]:
			for _, p := range points.DataPoints {
				got[label(one.Name, p.Attributes)] = p.Value
			}
		}
	}
	require.Equal(t, map[string]any{
		"sluice.operation.duration update done":                              2.2,
		"sluice.provider.call.duration Check done sim sim:index:Resource":    0.03,
		"sluice.provider.call.duration Create done sim sim:index:Resource":   1.8,
		"sluice.provider.call.duration Delete failed sim sim:index:Resource": 0.1,
		"sluice.limit.wait.duration few \x1b":                                0.1,
		"sluice.limit.wait.duration workers":                                 0.98 + 0.48,
		"sluice.steps create done sim:index:Resource":                        int64(2),
		"sluice.steps create done ":                                          int64(1),
		"sluice.steps delete failed ":                                        int64(1),
		"sluice.steps.running create":                                        int64(0),
		"sluice.steps.running delete":                                        int64(0),
	}, got)
}
