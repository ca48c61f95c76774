package display

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// clock is a time that changes only when a test sets it.
type clock struct{ now time.Time }

func (c *clock) after(d time.Duration) time.Time {
	c.now = c.now.Add(d)
	return c.now
}

func newClock() *clock { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func thing(name string) urn.URN { return urn.New("dev", "p", "", "pkg:mod/thing:Thing", name) }

func resource(name string, inputs map[string]property.Value) *state.Resource {
	return &state.Resource{
		URN: thing(name), Type: "pkg:mod/thing:Thing", Custom: true, ID: name + "-id", Inputs: property.NewMap(inputs),
		Outputs: property.NewMap(inputs), Provider: "urn:pulumi:dev::p::pulumi:providers:pkg::mine::1",
	}
}

func step(op stages.Op, name string, old, new map[string]property.Value) stages.StepInfo {
	s := stages.StepInfo{Op: op, URN: thing(name), Type: "pkg:mod/thing:Thing"}
	if old != nil {
		s.Old = resource(name, old)
	}
	if new != nil {
		s.New = resource(name, new)
		s.Provider = s.New.Provider
	}
	return s
}

type values = map[string]property.Value

// session returns the events of a run with a creation, an update, a replacement, a failure, messages, and secrets
// everywhere.
func session(c *clock, preview bool) []stages.Event {
	secret := property.Secret(property.String("hunter2"))
	create := step(stages.OpCreate, "new", nil, values{"password": secret, "size": property.Number(3), "tags": property.Of(property.NewMap(values{
		"b": property.String("x"), "a": property.ArrayOf(property.Bool(true), property.Computed())}))})
	update := step(stages.OpUpdate, "changed", values{"gone": property.String("g"), "password": secret, "same": property.Number(1)},
		values{"added": property.String("line\nbreak"), "password": property.Secret(property.String("swordfish")), "same": property.Number(1)})
	update.Diffs = []string{"added", "gone", "password"}
	why := stages.Reason{Kind: "inputs", Properties: []string{"region"}}
	old, new := values{"region": property.String("eu")}, values{"region": property.String("us")}
	replace, createReplacement, deleteReplaced := step(stages.OpReplace, "moved", old, new), step(stages.OpCreateReplacement, "moved", old, new),
		step(stages.OpDeleteReplaced, "moved", old, nil)
	for _, s := range []*stages.StepInfo{&replace, &createReplacement, &deleteReplaced} {
		s.Reason, s.Keys = why, []string{"region"}
		s.DetailedDiff = map[string]providers.PropertyDiff{"region": {Kind: providers.DiffUpdateReplace, InputDiff: true}}
	}
	events := []stages.Event{stages.Prelude{Operation: "update", IsPreview: preview, Config: map[string]string{"p:s": "[secret]"}}}
	run := func(s stages.StepInfo, took time.Duration) {
		events = append(events, stages.StepStarted{Step: s, Planning: preview, At: c.now})
		events = append(events, stages.StepDone{Step: s, Planning: preview, At: c.after(took)})
	}
	run(create, 580*time.Millisecond)
	run(update, 3*time.Second)
	run(createReplacement, 75*time.Second)
	run(replace, 0)
	run(deleteReplaced, time.Second)
	run(step(stages.OpSame, "quiet", old, old), 0)
	events = append(events,
		stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, URN: thing("new"), Message: "<{%fg 3%}>careful<{%reset%}>\n"}},
		stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, Message: "one ", StreamID: 7}},
		stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Debug, Message: "not shown\n"}},
		stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, Message: "two\x1b[31m red\x1b[0m\n", StreamID: 7}},
		stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, Message: "the password is [secret]\n", URN: thing("new")}},
	)
	result := stages.Succeeded
	if !preview {
		failing := step(stages.OpCreate, "bro\nken", nil, values{})
		events = append(events, stages.StepStarted{Step: failing, At: c.now},
			stages.StepFailed{Step: failing, Err: errors.New("no\nluck"), At: c.after(time.Second)},
			stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, URN: failing.URN, Message: "no\nluck\n"}})
		result = stages.Failed
	}
	return append(events, stages.Summary{
		IsPreview: preview, Duration: 81 * time.Second, Result: result,
		Changes:    map[stages.Op]int{stages.OpSame: 4, stages.OpCreate: 1, stages.OpUpdate: 1, stages.OpReplace: 1},
		OldOutputs: property.NewMap(values{"url": property.String("a"), "kept": property.Number(1), "gone": property.Null}),
		Outputs:    property.NewMap(values{"url": property.String("b"), "kept": property.Number(1), "key": secret}),
	}, stages.Ended{})
}

func render(preview bool, change func(*Options)) string {
	c := newClock()
	var out bytes.Buffer
	o := Options{Title: "Updating (dev):", IsPreview: preview, Out: &out, Now: func() time.Time { return c.now }}
	change(&o)
	var l interface {
		Observe(stages.Event)
		Close()
	} = NewLog(o)
	if preview {
		out.Reset()
		l = NewReport(o)
	}
	for _, e := range session(c, preview) {
		l.Observe(e)
	}
	l.Close()
	return out.String()
}

func TestLog(t *testing.T) {
	for name, c := range map[string]struct {
		preview bool
		change  func(*Options)
	}{
		"update":       {false, func(*Options) {}},
		"update-color": {false, func(o *Options) { o.Color = true }},
		"update-diff":  {false, func(o *Options) { o.Diff = true }},
		"preview":      {true, func(*Options) {}},
		"preview-all-steps": {true, func(o *Options) {
			o.ShowReplacementSteps, o.ShowSames, o.ShowURNs, o.Debug, o.ShowConfig = true, true, true, true, true
		}},
		"preview-diff": {true, func(o *Options) { o.Diff, o.SuppressOutputs = true, true }},
	} {
		t.Run(name, func(t *testing.T) {
			got := render(c.preview, c.change)
			golden(t, name, got)
			require.NotContains(t, got, "hunter2")
			require.NotContains(t, got, "swordfish")
			if name != "update-color" {
				require.NotContains(t, got, "\x1b")
			}
		})
	}
	require.Contains(t, render(true, func(o *Options) { o.Diff, o.ShowSecrets = true, true }), "swordfish")
}

func TestEventLog(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := StreamEvents(&out, true)
	l.now = func() time.Time { return c.now }
	for _, e := range session(c, false) {
		l.Observe(e)
	}
	require.NoError(t, l.Close())
	golden(t, "events", out.String())
	require.NotContains(t, out.String(), "hunter2")
	require.NotContains(t, out.String(), "swordfish")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, text := range lines {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &e))
		require.Len(t, e, 3, "sequence, timestamp and one kind")
		require.EqualValues(t, i, e["sequence"])
	}
}

// counting counts the bytes written to it, and keeps the end.
type counting struct {
	size int
	last []byte
}

func (c *counting) Write(p []byte) (int, error) {
	c.size += len(p)
	c.last = append(c.last, p...)
	c.last = c.last[max(0, len(c.last)-2000):]
	return len(p), nil
}

// Programs print without end. The log has their first messages, the number of the missing ones, and everything else.
func TestAnEventLogHasABound(t *testing.T) {
	var out counting
	l := StreamEvents(&out, true)
	message := stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Info, Message: strings.Repeat("x", 100_000) + "\n"}}
	for range 2000 {
		l.Observe(message)
	}
	l.Observe(problem("", "it is broken"))
	l.Observe(stages.Summary{Result: "failed"})
	require.NoError(t, l.Close())
	require.Greater(t, out.size, maxLogged-200_000)
	require.Less(t, out.size, maxLogged+200_000)
	require.Contains(t, string(out.last), "it is broken")
	require.Regexp(t, `"message":"\d+ messages with 1\d\d\.\d MiB left out of the event log: it has at most 64\.0 MiB of each kind\\n"`, string(out.last))
	require.Contains(t, string(out.last), `"result":"failed"`)
	require.Contains(t, string(out.last), `"cancelEvent"`)
}

func TestOutputsOfAReplacedComponentBelongToTheStepThatIsCounted(t *testing.T) {
	var out bytes.Buffer
	l := StreamEvents(&out, true)
	made := stages.StepInfo{Op: stages.OpCreateReplacement, URN: "urn:pulumi:dev::shop::my:app:Front::front", Type: "my:app:Front"}
	l.Observe(stages.StepDone{Step: made})
	l.Observe(stages.StepDone{Step: made, Outputs: true})
	var ops []string
	for line := range strings.Lines(out.String()) {
		var e struct {
			Done struct {
				Metadata struct {
					Op      string
					Logical bool
				}
			} `json:"resOutputsEvent"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		require.Equal(t, e.Done.Metadata.Op == "replace", e.Done.Metadata.Logical)
		ops = append(ops, e.Done.Metadata.Op)
	}
	require.Equal(t, []string{"create-replacement", "replace"}, ops)
}

func TestEventLogEndsWithACancelEventWhateverHappens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events")
	for range 2 { // each phase empties the file
		l, err := OpenEventLog(t.Context(), path, true)
		require.NoError(t, err)
		l.Observe(stages.Stdout{Message: "x"})
		require.NoError(t, l.Close())
	}
	requireEnd := func() {
		t.Helper()
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		require.Len(t, lines, 2)
		require.Contains(t, lines[1], `"sequence":1`)
		require.Contains(t, lines[1], `"cancelEvent":{}`)
	}
	requireEnd()
	l, err := OpenEventLog(t.Context(), path, true)
	require.NoError(t, err)
	for _, e := range []stages.Event{stages.Stdout{Message: "x"}, stages.Ended{}, problem("", "update cancelled")} {
		l.Observe(e)
	}
	require.NoError(t, l.Close())
	requireEnd()
}

func TestPreviewDocument(t *testing.T) {
	c := newClock()
	d := NewPreviewDocument(Options{Details: Details{Extended: true}})
	var steps []stages.StepInfo
	for _, e := range session(c, true) {
		if done, ok := e.(stages.StepDone); ok {
			steps = append(steps, done.Step)
		}
		d.Observe(e)
	}
	var out bytes.Buffer
	require.NoError(t, d.Write(&out, steps, nil))
	golden(t, "preview-json", out.String())
	require.NotContains(t, out.String(), "hunter2")
	require.NotContains(t, out.String(), "swordfish")
}

func TestSpecialValuesInEvents(t *testing.T) {
	v := property.Of(property.NewMap(values{
		"text":    property.TextAsset("not in the log"),
		"file":    property.PathAsset("./a"),
		"archive": property.MemberArchive(property.NewMap(values{"m": property.TextAsset("nor this")})),
		"unknown": property.Computed(),
		"ref":     property.Of(property.Reference{URN: thing("a"), ID: property.String("i")}),
		"null":    property.Null,
		"nested":  property.ArrayOf(property.Secret(property.Secret(property.String("hunter2")))),
		"output":  property.OutputOf(property.Output{Element: property.String("hunter2"), Known: true, Secret: true}),
	}))
	text, err := json.MarshalIndent(jsonValue(v, false), "", "  ")
	require.NoError(t, err)
	golden(t, "special-values", string(text)+"\n")
	require.Equal(t, "hunter2", PlainJSON(v, true).(map[string]any)["output"])
	require.Equal(t, "[secret]", PlainJSON(v, false).(map[string]any)["output"])
}

func TestPropertyDiffs(t *testing.T) {
	long := strings.Repeat("x", 1000)
	text := func(changed string) property.Value {
		return property.String("one\ntwo\nthree\nfour\n" + changed + "\nsix\nseven\neight\nnine\n")
	}
	old := values{
		"list": property.ArrayOf(property.Number(1), property.Number(2), property.Number(1e21)), "json": property.String(`{"a": 1, "b": [1, 2]}`),
		"lines": text("five"), "hidden": property.String("a"), "kind": property.Number(1), "long": property.String(long),
		"deep": property.Of(property.NewMap(values{"s": property.Secret(property.String("hunter2")), "t": property.Bool(false)})),
	}
	new := values{
		"list": property.ArrayOf(property.Number(1), property.Number(3)), "json": property.String(`{"a": 1, "b": [1, 3], "c": {}}`),
		"lines": text("FIVE"), "hidden": property.String("b"), "kind": property.ArrayOf(property.String("now a list")), "long": property.String(long + "y"),
		"deep": property.Of(property.NewMap(values{"s": property.String("no secret any more"), "t": property.Computed()})),
	}
	s := step(stages.OpUpdate, "x", old, new)
	s.New.HideDiff = []string{"hidden"}
	var out bytes.Buffer
	require.NoError(t, WriteDetails(&out, Options{}, []stages.StepInfo{s}))
	golden(t, "property-diff", out.String())

	s.DetailedDiff = map[string]providers.PropertyDiff{
		"list[2]": {Kind: providers.DiffDelete}, "deep.t": {Kind: providers.DiffUpdateReplace}, "deep.s.inner": {Kind: providers.DiffUpdate},
		"hidden": {Kind: providers.DiffUpdate}, "a[": {Kind: providers.DiffUpdate}, "kind": {Kind: providers.DiffUpdate},
	}
	out.Reset()
	require.NoError(t, WriteDetails(&out, Options{}, []stages.StepInfo{s}))
	golden(t, "detailed-diff", out.String())
}

// Equal siblings share a row of the tree. If their properties are shown, each has its own.
func TestPropertiesAreInTheOrderOfNamesWhateverHappensFirst(t *testing.T) {
	report := func(names []string) string {
		var out bytes.Buffer
		r := NewReport(Options{Title: "T", IsPreview: true, Out: &out, Now: func() time.Time { return newClock().now }, Details: Details{Diff: true}})
		for _, name := range names {
			r.Observe(stages.StepDone{Step: step(stages.OpCreate, name, nil, values{}), Planning: true})
		}
		r.Close()
		return out.String()
	}
	names := []string{"r9", "r10", "r2", "r7", "r1", "r3", "r8", "r4", "r6", "r5"}
	text := report(names)
	at := -1
	for i := range names {
		next := strings.Index(text, fmt.Sprintf("Thing r%d:", i+1))
		require.Greater(t, next, at, text)
		at = next
	}
	slices.Sort(names)
	require.Equal(t, text, report(names))
}

func TestHugeValuesAreCut(t *testing.T) {
	huge := property.String(strings.Repeat("0123456789\n", 5<<20)) // 55 MB
	many := make([]property.Value, 100_000)
	for i := range many {
		many[i] = property.Number(float64(i))
	}
	s := step(stages.OpUpdate, "x", values{"text": huge, "list": property.ArrayOf()},
		values{"text": property.String(huge.AsString() + "end"), "list": property.ArrayOf(many...)})
	var out bytes.Buffer
	require.NoError(t, WriteDetails(&out, Options{}, []stages.StepInfo{s, step(stages.OpCreate, "y", nil, values{"text": huge})}))
	require.Less(t, out.Len(), 10_000)
	require.Contains(t, out.String(), "55.0 MiB")
}

func TestALineIsCutToTheTerminalAndLeavesNothing(t *testing.T) {
	var screen bytes.Buffer
	width := 20
	l := NewLine(&screen, func() int { return width }, false)
	l.Draw("a-rather-long-näme, and more")
	for _, part := range strings.Split(screen.String(), eraseLine)[1:] {
		require.Less(t, len([]rune(part)), width)
	}
	width = 5
	l.Draw("more")
	require.True(t, strings.HasSuffix(screen.String(), eraseLine), "nothing readable fits")
	l.Clear()
}

func TestLinesOfAReportAreHeldBackOnlyForAScreen(t *testing.T) {
	debugger := stages.Diagnostic{LogMessage: stages.LogMessage{Message: "Waiting for debugger to attach", Debugger: map[string]any{}}}
	for _, held := range []bool{false, true} {
		var out bytes.Buffer
		r := NewReport(Options{Title: "T", Out: &out})
		if held {
			r.Hold()
		}
		for _, e := range []stages.Event{stages.Stdout{Message: "hello\n"}, debugger} {
			r.Observe(e)
		}
		r.Note("^C received", "")
		const lines = "hello\n @  Waiting for debugger to attach\n^C received\n"
		if !held {
			require.Equal(t, "T\n"+lines, out.String(), "somebody waits for them")
		} else {
			require.Equal(t, "T\n", out.String())
		}
		r.Close()
		require.Equal(t, "T\n"+lines, out.String())
	}
}

func TestInterruptedStepsAreShownAtTheEnd(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }})
	l.Observe(stages.StepStarted{Step: step(stages.OpCreate, "a", nil, values{}), At: c.now})
	c.after(3 * time.Second)
	require.Equal(t, []string{"creating pkg:mod:Thing a (3s)"}, l.Running())
	l.Close()
	require.Equal(t, "T\n +  pkg:mod:Thing a creating (interrupted)\n", out.String())
}

func TestLogSpeaksOfWhatTakesLong(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }})
	l.Observe(stages.StepStarted{Step: step(stages.OpDelete, "a", values{}, nil), At: c.now})
	for range 2 {
		c.after(10 * time.Second)
		l.Tick()
	}
	require.Equal(t, "T\n @  after 10s: 0 done, 1 running; deleting pkg:mod:Thing a (10s)\n"+
		" @  after 20s: 0 done, 1 running; deleting pkg:mod:Thing a (20s)\n", out.String())
}

// Whatever runs, and whoever reads: the first line comes within 5 seconds, the next one within 10, and each has counts.
func TestALogIsNeverSilentForLong(t *testing.T) {
	const tick = 100 * time.Millisecond
	for name, change := range map[string]func(*Options){
		"usual":     func(*Options) {},
		"a preview": func(o *Options) { o.IsPreview = true },
		"a job":     func(o *Options) { o.Job = true },
		"events":    func(o *Options) { o.Events = true },
		"expected":  func(o *Options) { o.Expected = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			var out bytes.Buffer
			o := Options{Title: "Updating (dev):", Out: &out, Beginning: "starting the program", WaitsFor: "the program", Now: func() time.Time { return c.now }}
			change(&o)
			for kind, log := range map[string]interface {
				Observe(stages.Event)
				Tick()
			}{"log": NewLog(o), "report": NewReport(o)} {
				out.Reset()
				silent, longest := time.Duration(0), 5*time.Second
				for i := range 600 {
					if i == 200 {
						log.Observe(stages.StepStarted{Step: step(stages.OpCreate, "a", nil, values{}), At: c.now})
					}
					if i == 400 {
						log.Observe(stages.StepDone{Step: step(stages.OpCreate, "a", nil, values{}), At: c.now})
					}
					c.after(tick)
					log.Tick()
					if silent += tick; out.Len() > 0 {
						if text := out.String(); strings.Contains(text, " @ ") {
							require.Regexp(t, `\d+( of \d+)? done`, text, kind)
						}
						silent, longest = 0, 10*time.Second
						out.Reset()
					}
					require.LessOrEqual(t, silent, longest, kind)
				}
			}
		})
	}
}

func TestEventsAreWrittenAsTheyCome(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Events: true, Forecast: &Forecast{}, Now: func() time.Time { return c.now }})
	said := func() string {
		defer out.Reset()
		return out.String()
	}
	require.Equal(t, "T\n", said())
	b, a := step(stages.OpCreate, "b", nil, values{}), step(stages.OpDelete, "a", values{}, nil)
	l.Observe(stages.StepStarted{Step: b, At: c.now})
	require.Equal(t, " +  pkg:mod:Thing b creating\n", said())
	l.Observe(stages.StepStarted{Step: a, At: c.now})
	require.Equal(t, " -  pkg:mod:Thing a deleting\n", said())
	c.after(2 * time.Second)
	l.Observe(stages.StepDone{Step: a, At: c.now})
	require.Equal(t, " -  pkg:mod:Thing a deleted (2s)\n", said())
	l.Observe(stages.StepDone{Step: b, At: c.now})
	require.Equal(t, " +  pkg:mod:Thing b created (2s)\n", said())
	same := step(stages.OpSame, "c", values{}, values{})
	l.Observe(stages.StepStarted{Step: same, At: c.now})
	l.Observe(stages.StepDone{Step: same, At: c.now})
	require.Empty(t, said())
}

// doing returns the text on a screen about running steps.
func doing(r *Report) (text string) {
	r.Look(func(s Sight) { text = s.Doing })
	return text
}

func TestUntilTheFirstStepTheScreensSayWhatGoesOn(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	options := Options{Title: "T", Out: &out, Beginning: "starting the program", WaitsFor: "the program", Now: func() time.Time { return c.now }}
	l := NewLog(options)
	options.Out = io.Discard
	r := NewReport(options)
	c.after(25 * time.Second)
	l.Tick()
	require.Equal(t, "T\n @  after 25s: 0 done, starting the program\n", out.String())
	require.Equal(t, "starting the program", doing(r))
	r.Observe(stages.StepStarted{Step: step(stages.OpSame, "a", values{}, values{}), At: c.now})
	require.Equal(t, "waiting for the program", doing(r))
}

func TestWhatCallsWaitForIsOfMoreInterestThanTheRest(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Beginning: "starting", WaitsFor: "the program", Now: func() time.Time { return c.now }})
	wait := func(limit string, waiting bool) { l.Observe(stages.LimitWait{Limit: limit, Waiting: waiting}) }
	after := func() string {
		out.Reset()
		c.after(20 * time.Second)
		l.Tick()
		return out.String()
	}
	wait("reads", true)
	require.Equal(t, " @  after 20s: 0 done, 0 running; waiting for the limit reads\n", after())
	wait("reads", true)
	wait("aws\x1b[2J", true)
	l.Observe(stages.StepStarted{Step: step(stages.OpDelete, "a", values{}, nil), At: c.now})
	require.Equal(t, " @  after 40s: 0 done, 1 running; waiting for the limits reads and aws\\x1b[2J; deleting pkg:mod:Thing a (20s)\n", after())
	wait("last", true)
	require.Contains(t, after(), "; waiting for the limits reads and 2 others; ")
	wait("reads", false)
	wait("last", false)
	wait("aws\x1b[2J", false)
	require.Equal(t, " @  after 1m20s: 0 done, 1 running; deleting pkg:mod:Thing a (1m0s)\n", after())
}

func TestWhatRunsIsListedTheLongestFirst(t *testing.T) {
	c := newClock()
	r := NewReport(Options{Title: "T", Out: io.Discard, Now: func() time.Time { return c.now }})
	begin := func(names ...string) {
		for _, n := range names {
			r.Observe(stages.StepStarted{Step: step(stages.OpCreate, n, nil, values{}), At: c.now})
		}
	}
	begin("z")
	c.after(time.Second)
	begin("r10", "r2")
	c.after(2 * time.Second)
	require.Equal(t, []string{"creating pkg:mod:Thing z (3s)", "creating pkg:mod:Thing r2 (2s)", "creating pkg:mod:Thing r10 (2s)"}, r.Running())
}

func TestTheSummarySaysForWhichLimitsCallsWaited(t *testing.T) {
	waits := []providers.LimitWait{{Limit: "aws changes", Calls: 40, Time: 72*time.Second + 40*time.Millisecond}, {Limit: "reads", Calls: 1, Time: time.Second}}
	const said = "Waited: 1m12s for the limit aws changes (40 calls)\nWaited: 1s for the limit reads (1 call)\n"
	for preview, want := range map[bool]string{true: "\n" + said, false: "\nDuration: 2m0s\n" + said} {
		c := newClock()
		var out bytes.Buffer
		l := NewLog(Options{Title: "T", Out: &out, IsPreview: preview, Now: func() time.Time { return c.now }})
		l.Observe(stages.Summary{IsPreview: preview, Duration: 2 * time.Minute, LimitWaits: waits})
		l.Close()
		require.True(t, strings.HasSuffix(out.String(), "no changes\n"+want), out.String())
	}
}

func TestWhenNoStepRunsTheScreensSayWhatIsWaitedFor(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	options := Options{Title: "T", Out: &out, WaitsFor: "the program", Expected: 9, Now: func() time.Time { return c.now }}
	l := NewLog(options)
	options.Out = io.Discard
	r := NewReport(options)
	for _, screen := range []interface{ Observe(stages.Event) }{l, r} {
		screen.Observe(stages.StepStarted{Step: step(stages.OpUpdate, "a", values{}, values{}), At: c.now})
		screen.Observe(stages.StepDone{Step: step(stages.OpUpdate, "a", values{}, values{}), At: c.now})
	}
	require.Equal(t, "waiting for the program", doing(r), "nobody waits for 0 s")
	out.Reset()
	for range 3 {
		c.after(10 * time.Second)
		l.Tick()
	}
	require.Equal(t, " ~  pkg:mod:Thing a updated\n @  after 20s: 1 done, waiting 20s for the program\n"+
		" @  after 30s: 1 done, waiting 30s for the program\n", out.String())
	require.Equal(t, "waiting 30s for the program", doing(r))
}

func TestCleanRemovesWhatATerminalWouldObey(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[2Jb": "ab", "a\x1b]0;title\x07b": "ab", "a\rb": `a\x0db`, "a\r\nb": "a\nb", "\u202egnp": `\x202egnp`, "tab\t": "tab\t",
	} {
		require.Equal(t, want, clean(text))
	}
}

// judgedSession returns the events of a run with policy violations.
func judgedSession(level stages.EnforcementLevel) []stages.Event {
	rules := func(name string) stages.PolicyName {
		return stages.PolicyName{Pack: "rules", Version: "0.3.0", Name: name}
	}
	before := property.NewMap(values{"password": property.Secret(property.String("hunter2")), "size": property.Number(1)})
	after := before.With("size", property.Number(2)).With("tag", property.String("by policy"))
	return []stages.Event{
		stages.Prelude{Operation: "update"}, stages.PolicyLoad{},
		stages.PolicyRemediation{Policy: rules("tagged"), URN: thing("b"), Before: before, After: after},
		stages.PolicyRemediation{Policy: rules("tagged"), URN: thing("a"), Before: before, After: after},
		stages.PolicyRemediation{Policy: rules("idle"), URN: thing("a"), Before: before, After: before},
		stages.PolicySummary{After: stages.AfterRemediate, URN: thing("a"), Pack: "rules", Version: "0.3.0", Failed: []string{"tagged"}},
		stages.PolicyViolation{Policy: rules("small"), URN: thing("b"), Message: "Things are small.\nthe password is [secret]", Level: level},
		stages.PolicyViolation{Policy: rules("advice"), URN: thing("a"), Message: "\x1b[2Jthink\n", Level: stages.Advisory, Severity: "low"},
		stages.PolicyViolation{Policy: rules("advice"), URN: thing("a"), Message: "twice", Level: stages.Advisory, Severity: "critical"},
		stages.PolicySummary{After: stages.AfterAnalyze, URN: thing("a"), Pack: "rules", Version: "0.3.0", Passed: []string{"small"}, Failed: []string{"advice"}},
		stages.PolicySummary{After: stages.AfterAnalyzeStack, Pack: "rules", Version: "0.3.0", Passed: []string{"few"}},
		stages.Summary{
			Duration: time.Second, Result: stages.Failed, Changes: map[stages.Op]int{stages.OpCreate: 2},
			Policies: []stages.AnalyzerInfo{{Name: "rules", Version: "0.3.0", Directory: "/packs/rules"}, {Name: "other"}},
		}, stages.Ended{},
	}
}

func TestPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		level  stages.EnforcementLevel
		change func(*Options)
	}{
		"policies":              {stages.Mandatory, func(*Options) {}},
		"policies-remediations": {stages.Advisory, func(o *Options) { o.ShowRemediations = true }},
	} {
		t.Run(name, func(t *testing.T) {
			c0 := newClock()
			var out bytes.Buffer
			o := Options{Title: "Updating (dev):", Out: &out, Now: func() time.Time { return c0.now }}
			c.change(&o)
			l := NewLog(o)
			for _, e := range judgedSession(c.level) {
				l.Observe(e)
			}
			l.Close()
			golden(t, name, out.String())
			require.NotContains(t, out.String(), "hunter2")
			require.NotContains(t, out.String(), "\x1b")
		})
	}
}

func TestPolicyEvents(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := StreamEvents(&out, true)
	l.now = func() time.Time { return c.now }
	d := NewPreviewDocument(Options{Details: Details{Extended: true}})
	for _, e := range judgedSession(stages.Mandatory) {
		l.Observe(e)
		d.Observe(e)
	}
	require.NoError(t, l.Close())
	require.NoError(t, d.Write(&out, nil, nil))
	golden(t, "policy-events", out.String())
	require.NotContains(t, out.String(), "hunter2")
}

func TestOutputsOfAReplacedComponentAreThoseOfTheStepThatCounts(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := StreamEvents(&out, true)
	made := step(stages.OpCreateReplacement, "group", values{}, values{})
	l.Observe(stages.StepDone{Step: made, At: c.now})
	l.Observe(stages.StepDone{Step: made, Outputs: true, At: c.now})
	require.NoError(t, l.Close())
	var ops []string
	for line := range strings.Lines(out.String()) {
		var e struct {
			Outputs struct{ Metadata struct{ Op string } } `json:"resOutputsEvent"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		ops = append(ops, e.Outputs.Metadata.Op)
	}
	require.Equal(t, []string{"create-replacement", "replace", ""}, ops) // the last line ends the log
}

func TestAComponentIsReportedAsMadeBeforeItIsDeleted(t *testing.T) {
	c := newClock()
	var out bytes.Buffer
	l := NewLog(Options{Title: "T", Out: &out, Now: func() time.Time { return c.now }})
	made, gone := step(stages.OpCreate, "group", nil, values{}), step(stages.OpDelete, "group", values{}, nil)
	made.New.Custom, gone.Old.Custom = false, false
	for _, e := range []stages.Event{
		stages.StepStarted{Step: made, At: c.now}, // it ends when its outputs are registered
		stages.StepStarted{Step: gone, At: c.now}, stages.StepDone{Step: gone, At: c.now},
		stages.StepDone{Step: made, Outputs: true, At: c.now},
	} {
		l.Observe(e)
	}
	l.Close()
	require.Equal(t, "T\n +  pkg:mod:Thing group created\n -  pkg:mod:Thing group deleted\n", out.String())
}

// The names of properties in a reason come from programs.
func TestReasonsDoNothingToATerminal(t *testing.T) {
	s := stages.StepInfo{Op: stages.OpReplace, URN: "urn:pulumi:dev::demo::a:b:C::x", Reason: stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"k\u202e\x1b[2J"}}}
	require.NotEmpty(t, s.Reason.String())
	p := stepPrinter{Options: Options{IsPreview: true}}
	for _, text := range []string{p.fate(s, 0), blockPrinter{p}.text(s, 0)} {
		require.Contains(t, text, `k\x202e`)
		require.NotContains(t, text, "\u202e")
		require.NotContains(t, text, "\x1b")
	}
}

func TestAReplacementIsCountedWhenItsNewObjectIsMade(t *testing.T) {
	of := func(op stages.Op, name string) stages.StepInfo {
		s := step(op, name, values{"a": number(1)}, values{"a": number(2)})
		if op == stages.OpDeleteReplaced || op == stages.OpRemovePendingReplace {
			s.New = nil
		}
		s.Internal = op == stages.OpRemovePendingReplace
		return s
	}
	does := func(name string, ops ...stages.Op) (events []stages.Event) {
		for _, op := range ops {
			events = append(events, stages.StepStarted{Step: of(op, name)}, stages.StepDone{Step: of(op, name)})
		}
		return events
	}
	fails := func(name string) []stages.Event {
		s := of(stages.OpCreateReplacement, name)
		return []stages.Event{stages.StepStarted{Step: s}, stages.StepFailed{Step: s}, problem(s.URN, "exit status 7")}
	}
	view := of(stages.OpReplace, "v")
	view.New.ViewOf = thing("a")
	for name, c := range map[string]struct {
		events  []stages.Event
		counted int // replacements in the summary event
		want    string
	}{
		"it is made": {
			does("c", stages.OpDeleteReplaced, stages.OpReplace, stages.OpCreateReplacement), 1, "    +-1 replaced\n",
		},
		"it is made after a delete of its user, which is made too": {
			slices.Concat(does("d", stages.OpDeleteReplaced), does("c", stages.OpDeleteReplaced, stages.OpReplace, stages.OpCreateReplacement), does("d", stages.OpReplace, stages.OpCreateReplacement)), 2,
			"    +-2 replaced\n",
		},
		"it fails after the deletes": {
			slices.Concat(does("d", stages.OpDeleteReplaced), does("c", stages.OpDeleteReplaced, stages.OpReplace), fails("c")), 1,
			"    - 2 deleted\n    1 errored\n",
		},
		"it fails, and the deletes were in an earlier operation": {
			slices.Concat(does("c", stages.OpReplace), fails("c")), 1, "    1 errored\n",
		},
		"it is not declared again": {
			does("d", stages.OpDeleteReplaced, stages.OpRemovePendingReplace), 0, "    - 1 deleted\n",
		},
		"a view says that it is replaced": {
			[]stages.Event{stages.StepDone{Step: view}}, 1, "    +-1 replaced\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			changes := map[stages.Op]int{}
			if c.counted > 0 {
				changes[stages.OpReplace] = c.counted
			}
			events := append(c.events, stages.Summary{Result: stages.Failed, Changes: changes})
			got := concluded(Options{}, Ending{}, events...)
			_, got, _ = strings.Cut(got, "Resources:\n")
			got, _, _ = strings.Cut(got, "\nDuration")
			require.Equal(t, c.want, got)
			text := NewFailureText(Options{Out: io.Discard})
			for _, e := range events {
				text.Observe(e)
			}
			require.Equal(t, strings.Contains(c.want, "replaced"), text.Counts(Ending{}).Changes[stages.OpReplace] > 0)
		})
	}
}

func TestTheLegendExplainsTheSignsOfTheRows(t *testing.T) {
	replaced := func(op stages.Op) stages.StepInfo {
		return step(op, "a", values{"a": number(1)}, values{"a": number(2)})
	}
	gone := step(stages.OpDelete, "b", values{}, nil)
	for name, c := range map[string]struct {
		preview bool
		events  []stages.Event
		want    string
	}{
		"a replacement whose delete is not planned yet": {
			true, []stages.Event{stages.StepDone{Step: replaced(stages.OpCreateReplacement)}, stages.StepDone{Step: replaced(stages.OpReplace)}}, "signs: +- replace\n",
		},
		"a replacement that fails, and a delete": {
			false, []stages.Event{stages.StepFailed{Step: replaced(stages.OpCreateReplacement), Err: errors.New("no")}, stages.StepDone{Step: gone}},
			"signs: - delete, +- replace\n",
		},
		"a step that is interrupted": {
			false, []stages.Event{stages.StepStarted{Step: gone}}, "signs: - delete\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, diff := range []bool{false, true} {
				require.Contains(t, concluded(Options{Legend: true, IsPreview: c.preview, Details: Details{Diff: diff}}, Ending{}, c.events...), c.want)
			}
		})
	}
}
