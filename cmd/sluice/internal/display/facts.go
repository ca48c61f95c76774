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
	failure, shown := f.failureSection()
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
	if f.p.Hidden && !f.p.ShowSames && len(f.signs) > 0 && f.m.summary != nil && f.m.hidden() > 0 {
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

// previewFailed begins messages of previews (steps.md appendix B).
const previewFailed = "Preview failed: "

// grouped merges causes that differ only in the resource. It adds the numbers of the duplicate messages to shown.
func grouped(causes []*cause, shown map[int]bool) []*cause {
	var out []*cause
	same := map[string]*cause{}
	for _, c := range causes {
		var said strings.Builder
		for _, m := range c.messages {
			fmt.Fprintf(&said, "%d %s\n", m.size, m.Message)
		}
		first := same[said.String()]
		if c.urn == "" || first == nil {
			same[said.String()] = c
			out = append(out, c)
			continue
		}
		first.others, first.unreached = append(first.others, c.urn), append(first.unreached, c.unreached...)
		for _, m := range c.messages {
			shown[m.number] = true
		}
	}
	return out
}

// about names the resources of a cause: "16 operations were aborted: a, b, c, 13 more", if the user has requested the abort.
func (f *facts) about(c *cause) string {
	all := c.resources()
	slices.SortFunc(all, ByKindAndName()) // the order of failing depends on timing
	switch {
	case f.ending.Canceled && len(all) > 1:
		return fmt.Sprintf("%d operations were aborted: %s", len(all), someNames(all))
	case f.ending.Canceled:
		return messagePrinter{f.p}.speaker(c.urn) + " was aborted"
	case len(all) > 1:
		return fmt.Sprintf("%d resources (%s)", len(all), someNames(all))
	}
	return messagePrinter{f.p}.speaker(c.urn)
}

// causes returns the causes of the failure, in the order of the plan. A preview calls providers side by side, so that the order of its failures
// means nothing: its causes are in the order of types and names. That the operation has failed is not one of them.
func (f *facts) causes() []*cause {
	var out []*cause
	for _, u := range f.m.speakers {
		var errs []message
		for _, d := range f.m.diagnostics[u].list {
			if d.Severity == stages.Error && !f.saysOnlyThat(d) {
				errs = append(errs, d)
			}
		}
		if len(errs) > 0 {
			out = append(out, &cause{urn: u, messages: errs})
		}
	}
	seq := func(c *cause) int {
		if n, known := f.ending.Order[c.urn]; known {
			return n
		}
		return len(f.m.speakers) + 1<<32
	}
	byName := ByKindAndName()
	slices.SortStableFunc(out, func(a, b *cause) int {
		if f.p.IsPreview {
			return cmp.Or(compareBools(a.urn == "", b.urn == ""), byName(a.urn, b.urn))
		}
		return cmp.Compare(seq(a), seq(b))
	})
	return out
}

// saysOnlyThat reports whether a message contains only that the operation has failed.
func (f *facts) saysOnlyThat(d message) bool {
	text := strings.TrimSpace(d.Message)
	return d.URN == "" && f.ending.Failed != "" && (text == f.ending.Failed+" failed" || text == f.ending.Failed+" cancelled")
}

// blame finds the unreached resources: those of each cause, and those that were stopped. What was kept is neither: it has a line of its own.
func (f *facts) blame(causes []*cause) (stopped []urn.URN) {
	because := map[urn.URN]*cause{}
	for _, c := range causes {
		because[c.urn] = c
	}
	isKept := map[urn.URN]bool{}
	for _, u := range f.kept() {
		isKept[u] = true
	}
	open := map[urn.URN]bool{}
	var order []urn.URN
	add := func(u urn.URN) {
		if f.m.ended[u]&acted == 0 && !open[u] && !isKept[u] {
			open[u] = true
			order = append(order, u)
		}
	}
	for _, u := range f.p.Forecast.changes() {
		add(u)
	}
	causeOf := map[urn.URN]urn.URN{}
	planned := len(order)
	for _, d := range f.ending.Decided {
		add(d.URN)
		causeOf[d.URN] = d.Because
	}
	slices.SortFunc(order[planned:], ByKindAndName()) // their order of arrival is unknown
	f.follow(causes, open, causeOf)
	for _, u := range order {
		switch c := because[causeOf[u]]; {
		case because[u] != nil || f.m.failed[u] || u.IsRootStack():
		case c != nil:
			c.unreached = append(c.unreached, u)
		default:
			stopped = append(stopped, u)
		}
	}
	return stopped
}

// follow records in causeOf the first cause from which dependencies lead to each open resource.
func (f *facts) follow(causes []*cause, open map[urn.URN]bool, causeOf map[urn.URN]urn.URN) {
	if f.p.Forecast == nil {
		return
	}
	next := map[urn.URN][]urn.URN{}
	for u, uses := range f.p.Forecast.uses {
		for _, used := range uses {
			if f.p.Forecast.removals[u] {
				next[u] = append(next[u], used) // a user comes before what it uses
			} else {
				next[used] = append(next[used], u)
			}
		}
	}
	for _, c := range causes {
		queue := []urn.URN{c.urn}
		for len(queue) > 0 && c.urn != "" {
			u := queue[0]
			queue = queue[1:]
			for _, n := range next[u] {
				if open[n] && causeOf[n] == "" && n != c.urn {
					causeOf[n] = c.urn
					queue = append(queue, n)
				}
			}
		}
	}
}

// failureSection returns the text at the end of a failed or cancelled operation: the causes, the resources that were not reached because of each, and
// the next step. shown are the numbers of the messages that it contains as a whole, which appear nowhere else.
func (f *facts) failureSection() (text string, shown map[int]bool) {
	causes := f.causes()
	shown = map[int]bool{}
	if len(causes) == 0 && !f.ending.Canceled {
		return "", shown
	}
	stopped := f.blame(causes)
	if len(causes)+len(stopped)+f.m.remaining == 0 {
		return "", shown
	}
	if of := f.m.diagnostics[""]; of != nil {
		for _, d := range of.list {
			shown[d.number] = f.saysOnlyThat(d)
		}
	}
	var b strings.Builder
	line := func(text string) { b.WriteString(f.p.layout().fitted(text) + "\n") }
	causes = grouped(causes, shown)
	line(f.p.style.bold(f.failedTitle(len(causes))))
	details := map[string]bool{}
	for _, c := range causes[:min(len(causes), maxCauses)] {
		line("  " + f.p.style.bold(f.about(c)) + ":")
		for _, m := range c.messages {
			lines := once(details, m.Severity, messagePrinter{f.p}.lines(m))
			if strings.HasPrefix(m.Message, previewFailed) { // as in the title
				lines[0] = strings.Replace(lines[0], previewFailed, "", 1)
			}
			if len(causes) > 1 && len(lines) > maxCauseLines {
				lines = append(lines[:maxCauseLines:maxCauseLines], "... (the rest is above)")
			} else {
				shown[m.number] = true
			}
			line("    " + lines[0])
			for _, text := range lines[1:] {
				line("    " + text)
			}
		}
		if n := len(c.unreached); n > 0 {
			line("    not reached because of it: " + plural(n, "resource", "resources") + " (" + someNames(c.unreached) + ")")
		}
	}
	if more := len(causes) - maxCauses; more > 0 {
		line("  ... and " + plural(more, "other", "others") + ", which are above")
	}
	if len(stopped) > 0 {
		because := " because it stopped"
		if f.ending.Canceled {
			because = ""
		}
		line("  not reached" + because + ": " + plural(len(stopped), "resource", "resources") + " (" + someNames(stopped) + ")")
	}
	if kept := f.kept(); len(kept) > 0 {
		line("  not declared, and kept because of the failure: " + plural(len(kept), "resource", "resources") + " (" + someNames(kept) +
			"); the next update that does not fail deletes what is not declared then")
	}
	if old := f.remaining(); len(old) > 0 {
		line("  replaced, and the old ones are still there: " + plural(len(old), "resource", "resources") + " (" + someNames(old) + ")")
	}
	if say := f.nextStep(causes); say != "" {
		line("  " + f.p.style.bold("Next: ") + say)
	}
	return b.String(), shown
}

// kept returns the resources that the program has not declared and that stay because something failed.
func (f *facts) kept() []urn.URN {
	if f.m.summary == nil {
		return nil
	}
	kept := slices.Clone(f.m.summary.Kept)
	slices.SortFunc(kept, ByKindAndName())
	return kept
}

// remaining returns the replaced resources whose old objects are still there, in the order of types and names.
func (f *facts) remaining() []urn.URN {
	if f.m.remaining == 0 || f.p.IsPreview {
		return nil
	}
	var out []urn.URN
	for u, p := range f.m.ended {
		if p.remains() {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, ByKindAndName())
	return out
}

func (f *facts) failedTitle(n int) string {
	title := cmp.Or(f.ending.Failed, f.p.Noun, "operation") + " failed:"
	if f.ending.Canceled {
		return strings.ToUpper(title[:1]) + strings.TrimSuffix(title[1:], " failed:") + " cancelled:"
	}
	if n > 1 {
		title = fmt.Sprintf("%s %d causes", title, n)
		if !f.p.IsPreview {
			title += ", the first one first"
		}
	}
	return strings.ToUpper(title[:1]) + title[1:]
}

// nextStep returns advice about the first cause, unless its message contains some. A cancelled operation may have no cause.
func (f *facts) nextStep(causes []*cause) string {
	about := Failure{Preview: f.p.IsPreview, Interrupted: f.ending.Canceled}
	if len(causes) > 0 {
		about.URN = causes[0].urn
	}
	if f.ending.NextStep == nil || len(causes) > 0 && f.ending.Advised[about.URN] {
		return ""
	}
	if s := f.m.summary; s != nil {
		about.Unknown, about.Interrupted = len(s.Lost) > 0, s.Result == stages.Canceled
	}
	return f.ending.NextStep(about)
}

// someNames lists the names of resources, and counts the rest.
func someNames(us []urn.URN) string {
	var names []string
	for _, u := range us[:min(len(us), maxNotReached)] {
		names = append(names, cleanLine(u.Name()))
	}
	if more := len(us) - maxNotReached; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
