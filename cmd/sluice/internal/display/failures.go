package display

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Ending is what is known of an operation when it is over, besides its events.
type Ending struct {
	Failed string // what has failed, for example "update"; "" if nothing has
	// Canceled is true if the operation was ended before it was done, and nothing has failed but what was aborted for that.
	Canceled bool
	Order    map[urn.URN]int  // the sequence number of the first failure of each resource
	Advised  map[urn.URN]bool // whose messages say what to do
	Decided  []Unreached      // what was decided and not done
	// NextStep says what to do about the first cause if its message does not; nil if nobody knows.
	NextStep func(Failure) string
	// Log is what was decided; nil if that is not known, and then nothing is said of root causes.
	Log *why.Log
}

// Unreached is a resource that something was decided about and nothing done.
type Unreached struct {
	URN     urn.URN
	Because urn.URN // the resource that failed; "" if the operation had stopped
}

// Failure is one cause of a failed operation.
type Failure struct {
	URN     urn.URN // "" for the program, or the operation as a whole
	Unknown bool    // nobody knows what a step of the operation has done
	Preview bool
	// Interrupted is true if the operation was: what was aborted has failed for that.
	Interrupted bool
}

// Limits on what is said of failures at the end. What does not fit is among the diagnostics.
const (
	maxCauses     = 10
	maxCauseLines = 12 // of one of several; a single one is told as a whole
	maxNotReached = 8
)

// previewFailed begins messages of previews (steps.md appendix B).
const previewFailed = "Preview failed: "

// cause is what went wrong at a resource, and at others in the same way.
type cause struct {
	urn       urn.URN
	others    []urn.URN
	messages  []message
	unreached []urn.URN
}

// resources returns the resources at which it went wrong.
func (c *cause) resources() []urn.URN { return append([]urn.URN{c.urn}, c.others...) }

// grouped puts causes that differ in nothing but the resource together. told gets the numbers of the messages that are the same as one before.
func grouped(causes []*cause, told map[int]bool) []*cause {
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
			told[m.number] = true
		}
	}
	return out
}

// about names the resources of a cause: "16 operations were aborted: a, b, c, 13 more" if that is what the user has asked for.
func (f *facts) about(c *cause) string {
	all := c.resources()
	slices.SortFunc(all, ByKindAndName()) // that of failing depends on timing
	switch {
	case f.ending.Canceled && len(all) > 1:
		return fmt.Sprintf("%d operations were aborted: %s", len(all), someNames(all))
	case f.ending.Canceled:
		return f.p.speaker(c.urn) + " was aborted"
	case len(all) > 1:
		return fmt.Sprintf("%d resources (%s)", len(all), someNames(all))
	}
	return f.p.speaker(c.urn)
}

// causes returns what went wrong, what came first in the plan first. That an operation has failed is no cause of it.
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
	slices.SortStableFunc(out, func(a, b *cause) int { return cmp.Compare(seq(a), seq(b)) })
	return out
}

// saysOnlyThat reports whether a message says that the operation has failed, and nothing else.
func (f *facts) saysOnlyThat(d message) bool {
	text := strings.TrimSpace(d.Message)
	return d.URN == "" && f.ending.Failed != "" && (text == f.ending.Failed+" failed" || text == f.ending.Failed+" canceled")
}

// blame finds out what was not reached: because of each cause, and because the operation had stopped.
func (f *facts) blame(causes []*cause) (stopped []urn.URN) {
	because := map[urn.URN]*cause{}
	for _, c := range causes {
		because[c.urn] = c
	}
	open := map[urn.URN]bool{}
	var order []urn.URN
	for _, u := range f.p.Forecast.changes() {
		if f.m.ended[u]&acted == 0 && !open[u] {
			open[u] = true
			order = append(order, u)
		}
	}
	told := map[urn.URN]urn.URN{}
	planned := len(order)
	for _, d := range f.ending.Decided {
		if !open[d.URN] && f.m.ended[d.URN]&acted == 0 {
			open[d.URN] = true
			order = append(order, d.URN)
		}
		told[d.URN] = d.Because
	}
	slices.SortFunc(order[planned:], ByKindAndName()) // nobody has said what comes first
	f.follow(causes, open, told)
	for _, u := range order {
		switch c := because[told[u]]; {
		case because[u] != nil || f.m.failed[u] || u.IsRootStack():
		case c != nil:
			c.unreached = append(c.unreached, u)
		default:
			stopped = append(stopped, u)
		}
	}
	return stopped
}

// follow enters in told the first cause from which dependencies lead to what is open.
func (f *facts) follow(causes []*cause, open map[urn.URN]bool, told map[urn.URN]urn.URN) {
	if f.p.Forecast == nil {
		return
	}
	next := map[urn.URN][]urn.URN{}
	for u, uses := range f.p.Forecast.uses {
		for _, used := range uses {
			if f.p.Forecast.removals[u] {
				next[u] = append(next[u], used) // what is used goes after its users
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
				if open[n] && told[n] == "" && n != c.urn {
					told[n] = c.urn
					queue = append(queue, n)
				}
			}
		}
	}
}

// failureSection ends the text about an operation that has failed or was cancelled: the causes, what was not reached because of each, and what to do next. It
// returns the numbers of the messages that it tells as a whole: they are told nowhere else.
func (f *facts) failureSection() (text string, told map[int]bool) {
	causes := f.causes()
	told = map[int]bool{}
	if len(causes) == 0 && !f.ending.Canceled {
		return "", told
	}
	stopped := f.blame(causes)
	if len(causes)+len(stopped)+f.m.remaining == 0 {
		return "", told
	}
	if of := f.m.diagnostics[""]; of != nil {
		for _, d := range of.list {
			told[d.number] = f.saysOnlyThat(d)
		}
	}
	var b strings.Builder
	line := func(text string) { b.WriteString(f.p.fitted(text) + "\n") }
	causes = grouped(causes, told)
	line(f.p.style.bold(f.failedTitle(len(causes))))
	details := map[string]bool{}
	for _, c := range causes[:min(len(causes), maxCauses)] {
		line("  " + f.p.style.bold(f.about(c)) + ":")
		for _, m := range c.messages {
			lines := once(details, m.Severity, f.p.message(m))
			if strings.HasPrefix(m.Message, previewFailed) { // as the title says
				lines[0] = strings.Replace(lines[0], previewFailed, "", 1)
			}
			if len(causes) > 1 && len(lines) > maxCauseLines {
				lines = append(lines[:maxCauseLines:maxCauseLines], "... (the rest is above)")
			} else {
				told[m.number] = true
			}
			line("    " + lines[0])
			for _, text := range lines[1:] {
				b.WriteString("    " + text + "\n") // as it is: these are excerpts and lists
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
	return b.String(), told
}

// kept returns the resources that the program has not declared, and that stay because something failed.
func (f *facts) kept() []urn.URN {
	if f.m.summary == nil {
		return nil
	}
	kept := slices.Clone(f.m.summary.Kept)
	slices.SortFunc(kept, ByKindAndName())
	return kept
}

// remaining returns the resources that are replaced while their old objects are still there, in the order of types and names.
func (f *facts) remaining() []urn.URN {
	if f.m.remaining == 0 {
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
		title = fmt.Sprintf("%s %d causes, the first one first", title, n)
	}
	return strings.ToUpper(title[:1]) + title[1:]
}

// nextStep says what to do about the first cause, unless its message does. An operation that was cancelled may have none.
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

// someNames lists the names of resources, and says how many more there are.
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
