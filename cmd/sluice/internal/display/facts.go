package display

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// facts describe an operation in words.
type facts struct {
	p       stepPrinter
	m       *model
	note    string             // the last ephemeral message
	lastOut time.Time          // when something was last written, for heartbeats
	lines   int                // how often something was written
	signs   map[stages.Op]bool // of the rows that are written
	refresh bool               // the text already shows that the operation refreshes
	ending  Ending
}

func newFacts(o Options) facts {
	if o.Now == nil {
		o.Now = time.Now
	}
	now := o.Now()
	m := newModel(now, o.ShowFullOutput)
	m.refreshes = o.IsRefresh || o.Expected == 0
	m.ended = make(map[urn.URN]progress, o.Expected)
	return facts{p: stepPrinter{Options: o, style: style{o.Color}, unchanged: m.isLeft}, m: m, lastOut: now, signs: map[stages.Op]bool{}}
}

// explain records how the operation has ended.
func (f *facts) explain(e Ending) { f.ending, f.p.aborts = e, e.Canceled }

func (f *facts) failures() failurePrinter { return failurePrinter{f.p, f.m, f.ending} }

// write writes a text with a line end.
func (f *facts) write(text string) {
	_, _ = io.WriteString(f.p.Out, text+"\n")
	f.lastOut = f.p.Now()
	f.lines++
}

// line returns the line of an event about the operation as a whole, and whether there is one. It keeps an ephemeral message until the next one, and
// other messages for the section at the end. A process that waits for a debugger gets a line at once, because somebody has to attach it.
func (f *facts) line(e stages.Event) (text string, said bool) {
	switch e := e.(type) {
	case stages.Prelude:
		if f.p.ShowConfig {
			return configText(e.Config), true
		}
	case stages.StepStarted:
		return f.firstRead(&e.Step)
	case stages.Diagnostic:
		if e.Debugger != nil {
			return " @  " + cleanLine(clean(e.Message)), true
		}
		if e.Ephemeral && (e.Severity != stages.Debug || f.p.Debug) {
			f.note = firstLine(e.Message)
		}
	case stages.Stdout:
		return strings.TrimRight(clean(e.Message), "\n"), true
	}
	return "", false
}

// firstRead returns one line, once, about a refresh of the recorded resources: no other line appears if there is no drift. Client programs look for
// the word "refreshing".
func (f *facts) firstRead(s *stages.StepInfo) (text string, said bool) {
	if f.refresh || f.p.IsRefresh || s.Internal || s.Op != stages.OpRefresh || f.p.OnlyEnd || f.p.SuppressProgress {
		return "", false
	}
	f.refresh = true
	w := wordsFor(s.Op)
	return " " + f.p.style.paint(w.colour, w.mark) + " " + w.running + " what is recorded", true
}

// configText formats the settings. Secrets are masked, as they are in the event.
func configText(settings map[string]string) string {
	lines := []string{"Configuration:"}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		lines = append(lines, fmt.Sprintf("    %s: %s", key, clean(settings[key])))
	}
	return strings.Join(lines, "\n")
}

// running describes the running steps with elapsed times: the longest first, then in the order of types and names.
func (f *facts) running() []string {
	now, byName := f.p.Now(), ByKindAndName()
	steps := slices.SortedFunc(slices.Values(f.m.running), func(a, b *runningStep) int {
		return cmp.Or(cmp.Compare(b.elapsed(now), a.elapsed(now)), byName(a.step.URN, b.step.URN))
	})
	out := make([]string, len(steps))
	for i, r := range steps {
		out[i] = f.p.describe(*r, now)
	}
	return out
}

// The longest times without output while an operation is under way: until the first line after the title, which comes within 5 seconds, and then until
// the next line, which comes within 10. The rest is for the interval of [Log.Tick].
const (
	firstHeartbeat = 4800 * time.Millisecond
	heartbeat      = 9800 * time.Millisecond
)

// beat writes the progress if nothing has been written for long.
func (f *facts) beat() {
	now := f.p.Now()
	longest := heartbeat
	if f.lines <= 1 {
		longest = firstHeartbeat
	}
	if f.p.SuppressProgress || now.Sub(f.lastOut) < longest || len(f.m.running) == 0 && !f.isBeginning() && f.p.WaitsFor == "" {
		return
	}
	if f.p.Job {
		f.write(f.still(now))
		return
	}
	text := fmt.Sprintf(" @  after %s: %s", formatTook(now.Sub(f.m.started)), f.progress(now))
	if f.note != "" {
		text += "; " + f.note
	}
	f.write(text)
}

// isBeginning reports whether no step has begun yet and Beginning describes the operation instead. Calls that wait for a limit are more important.
func (f *facts) isBeginning() bool { return f.p.Beginning != "" && !f.m.begins && len(f.m.limits) == 0 }

// waits describes what the operation waits for while no step runs, and for how long if that is a second or more.
func (f *facts) waits(now time.Time) string {
	if since := now.Sub(f.m.lastStep).Truncate(time.Second); since > 0 {
		return fmt.Sprintf("waiting %s for %s", since, f.p.WaitsFor)
	}
	return "waiting for " + f.p.WaitsFor
}

// progress describes the progress of the operation: "12 done, 3 running, 5 waiting; creating pkg:mod:Type db (1m12s)". If no step runs, or calls wait
// for limits, it describes what the operation waits for.
func (f *facts) progress(now time.Time) string {
	if f.isBeginning() {
		return fmt.Sprintf("%d done, %s", f.m.done, f.p.Beginning)
	}
	if len(f.m.running) == 0 && f.p.WaitsFor != "" && len(f.m.limits) == 0 {
		return fmt.Sprintf("%d done, %s", f.m.done, f.waits(now))
	}
	text := fmt.Sprintf("%d done, %d running", f.m.done, len(f.m.running))
	if waiting := f.m.waiting(f.p.Expected); waiting > 0 {
		text += fmt.Sprintf(", %d waiting", waiting)
	}
	if len(f.m.limits) > 0 {
		text += "; waiting for the " + limitNames(f.m.limits)
	}
	if oldest, ok := f.m.oldest(); ok {
		text += "; " + f.p.describe(oldest, now)
	}
	return text
}

// limitNames returns "limit x" or "limits x and 2 others".
func limitNames(limits []string) string {
	switch others := len(limits) - 1; others {
	case 0:
		return "limit " + cleanLine(limits[0])
	case 1:
		return "limits " + cleanLine(limits[0]) + " and " + cleanLine(limits[1])
	default:
		return fmt.Sprintf("limits %s and %d others", cleanLine(limits[0]), others)
	}
}

// begin writes the title.
func (f *facts) begin() {
	if f.p.Frame != nil {
		f.p.Frame.Begin(f.p.Title)
		return
	}
	f.write(f.p.style.bold(f.p.Title))
}

// end writes the text after the rows: the legend, messages, outputs, counts, and why the operation has failed.
func (f *facts) end() {
	if text := f.legend(); text != "" && !f.p.OnlyEnd {
		f.write(f.p.layout().fitted(text))
	}
	if f.p.Frame != nil {
		f.p.Frame.End(f.ending.Failed != "")
	}
	failure, shown := f.failures().section()
	diagnostics := messagePrinter{f.p}.section(f.m, shown, f.ending.Failed != "" && failure != "")
	for _, section := range []string{
		policyPrinter{f.p}.section(f.m), diagnostics, outputsSection(f.p.Options, f.p.style, f.m), f.p.layout().fitted(wavePrinter{f.p}.section(f.m)),
		f.p.layout().fitted(summaryPrinter{f.p}.section(f.m, f.ending.Log)), f.p.layout().fitted(causesSection(f.p, f.ending.Log)), failure,
	} {
		if section == "" {
			continue
		}
		if title, rest, _ := strings.Cut(section, "\n"); f.p.Frame != nil && section == diagnostics {
			f.p.Frame.Begin(strings.TrimSuffix(title, ":"))
			f.write(strings.TrimSuffix(rest, "\n"))
			f.p.Frame.End(f.ending.Failed != "")
			continue
		}
		f.write("\n" + strings.TrimSuffix(section, "\n"))
	}
}

// legend explains the signs of the rows, and describes the resources without a row.
func (f *facts) legend() string {
	var signs []string
	if f.p.Legend {
		for _, op := range slices.Concat(summaryOrder[:], []stages.Op{
			stages.OpCreateReplacement, stages.OpDeleteReplaced, stages.OpRead, stages.OpReadReplacement, stages.OpRefresh, stages.OpDiscardReplaced,
			stages.OpImportReplacement,
		}) {
			if w := wordsFor(op); f.signs[op] {
				signs = append(signs, f.p.style.paint(w.colour, strings.TrimSpace(w.mark))+" "+w.plan)
			}
		}
	}
	var lines []string
	if f.p.Hidden && !f.p.ShowSames && len(f.signs) > 0 && f.m.summary != nil && !f.m.isPartial() && f.m.hidden() > 0 {
		lines = append(lines, fmt.Sprintf("    %d unchanged hidden (--show-sames shows them)", f.m.hidden()))
	}
	if len(signs) > 0 {
		lines = append(lines, "    signs: "+strings.Join(signs, ", "))
	}
	return strings.Join(lines, "\n")
}

// still describes the progress of the operation: "still updating after 4m0s: 3 running, 12 of 40 done, slowest aws:rds:Instance
// db 3m10s".
func (f *facts) still(now time.Time) string {
	doing, _, _ := strings.Cut(strings.ToLower(f.p.Title), " (")
	text := fmt.Sprintf(" @  still %s after %s: ", doing, formatTook(now.Sub(f.m.started)))
	done := fmt.Sprint(f.m.done, " done")
	if f.p.Expected > 0 {
		done = fmt.Sprintf("%d of %d done", f.m.done, max(f.p.Expected, f.m.done))
	}
	text += fmt.Sprintf("%d running, %s", len(f.m.running), done)
	if f.isBeginning() {
		return text + ", " + f.p.Beginning
	}
	if len(f.m.limits) > 0 {
		text += ", waiting for the " + limitNames(f.m.limits)
	}
	if oldest, ok := f.m.oldest(); ok {
		return text + fmt.Sprintf(", slowest %s %s", f.p.subject(oldest.step.URN), max(now.Sub(oldest.since), 0).Truncate(time.Second))
	}
	if f.p.WaitsFor != "" {
		text += ", " + f.waits(now)
	}
	return text
}
