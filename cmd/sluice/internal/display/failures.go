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

// Ending describes the end of an operation, besides its events.
type Ending struct {
	Failed string // the operation that has failed, for example "update"; "" if none has
	// Canceled is true if the operation was ended early, and the only failures are aborted steps.
	Canceled bool
	Order    map[urn.URN]int  // the sequence number of the first failure of each resource
	Advised  map[urn.URN]bool // whose messages contain advice
	Decided  []Unreached      // decided, and not reached
	// NextStep returns advice about the first cause if its message contains none. It may be nil.
	NextStep func(Failure) string
	// Log is the log of decisions; without it, there is nothing about root causes.
	Log *why.Log
}

// Unreached is a resource with a decision that was not carried out.
type Unreached struct {
	URN     urn.URN
	Because urn.URN // the resource that failed; "" if the operation had stopped
}

// Failure is one cause of a failed operation.
type Failure struct {
	URN     urn.URN // "" for the program, or the operation as a whole
	Unknown bool    // the outcome of a step of the operation is unknown
	Preview bool
	// Interrupted is true if the operation was interrupted: aborted steps have failed for that reason.
	Interrupted bool
}

// Limits on the failures at the end. The rest is among the diagnostics.
const (
	maxCauses     = 10
	maxCauseLines = 12 // of one of several causes; a single one is written as a whole
	maxNotReached = 8
)

// previewFailed begins messages of previews (steps.md appendix B).
const previewFailed = "Preview failed: "

// cause is a failure of one resource, and of others in the same way.
type cause struct {
	urn       urn.URN
	others    []urn.URN
	messages  []message
	unreached []urn.URN
}

// resources returns the resources that have failed.
func (c *cause) resources() []urn.URN { return append([]urn.URN{c.urn}, c.others...) }

// grouped merges causes that differ only in the resource. It adds the numbers of the duplicate messages to told.
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

// about names the resources of a cause: "16 operations were aborted: a, b, c, 13 more", if the user has requested the abort.
func (f *facts) about(c *cause) string {
	all := c.resources()
	slices.SortFunc(all, ByKindAndName()) // the order of failing depends on timing
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

// causes returns the causes of the failure, in the order of the plan. That the operation has failed is not one of them.
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

// saysOnlyThat reports whether a message contains only that the operation has failed.
func (f *facts) saysOnlyThat(d message) bool {
	text := strings.TrimSpace(d.Message)
	return d.URN == "" && f.ending.Failed != "" && (text == f.ending.Failed+" failed" || text == f.ending.Failed+" canceled")
}

// blame finds the unreached resources: those of each cause, and those that were stopped.
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
	slices.SortFunc(order[planned:], ByKindAndName()) // their order of arrival is unknown
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

// follow records in told the first cause from which dependencies lead to each open resource.
func (f *facts) follow(causes []*cause, open map[urn.URN]bool, told map[urn.URN]urn.URN) {
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
				if open[n] && told[n] == "" && n != c.urn {
					told[n] = c.urn
					queue = append(queue, n)
				}
			}
		}
	}
}

// failureSection returns the text at the end of a failed or cancelled operation: the causes, the resources that were not reached because of each, and
// the next step. told are the numbers of the messages that it contains as a whole, which appear nowhere else.
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
			if strings.HasPrefix(m.Message, previewFailed) { // as in the title
				lines[0] = strings.Replace(lines[0], previewFailed, "", 1)
			}
			if len(causes) > 1 && len(lines) > maxCauseLines {
				lines = append(lines[:maxCauseLines:maxCauseLines], "... (the rest is above)")
			} else {
				told[m.number] = true
			}
			line("    " + lines[0])
			for _, text := range lines[1:] {
				b.WriteString("    " + text + "\n") // unchanged: these are excerpts and lists
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
