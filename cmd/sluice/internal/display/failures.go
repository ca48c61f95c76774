package display

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
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
	Advised  map[urn.URN]bool // whose messages contain advice about the next step
	Decided  []Unreached      // decided, and not reached
	// NextStep returns advice about the first cause if its message contains none. It may be nil.
	NextStep func(Failure) string
	// Planned are the steps of a preview in their final form. An event may have named another one of several causes, because the first of
	// them in the canonical order was decided later.
	Planned []stages.StepInfo
	// Log is the log of decisions; without it, there is nothing about root causes.
	Log *why.Log
}

// Unreached is a resource with a decision that was not carried out.
type Unreached struct {
	URN     urn.URN
	Because urn.URN // the resource that failed; "" if the operation had stopped
	Removes bool    // it would have been deleted
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

// cause is a failure of one resource, and of others in the same way.
type cause struct {
	urn       urn.URN
	others    []urn.URN
	messages  []message
	unreached []urn.URN
}

// resources returns the resources that have failed.
func (c *cause) resources() []urn.URN { return append([]urn.URN{c.urn}, c.others...) }

// failurePrinter formats why an operation has failed.
type failurePrinter struct {
	steps  stepPrinter
	model  *model
	ending Ending
}

// section returns the text at the end of a failed or cancelled operation: the causes, the resources that were not reached because of each, and
// the next step. shown are the numbers of the messages that it contains as a whole, which appear nowhere else.
func (p failurePrinter) section() (text string, shown map[int]bool) {
	causes := p.causes()
	shown = map[int]bool{}
	violated := p.violated()
	if len(causes)+len(violated) == 0 && !p.ending.Canceled {
		return "", shown
	}
	stopped, next := p.blame(causes), p.nextStep(causes)
	if len(causes)+len(violated)+len(stopped)+p.model.remaining == 0 && (next == "" || p.steps.IsPreview) {
		return "", shown
	}
	if of := p.model.diagnostics[""]; of != nil {
		for _, d := range of.list {
			shown[d.number] = p.saysOnlyThat(d)
		}
	}
	var b strings.Builder
	line := func(text string) { b.WriteString(p.steps.layout().fitted(text) + "\n") }
	if causes = grouped(causes, shown); p.ending.Canceled {
		causes = together(causes)
	}
	line(p.steps.style.bold(p.failedTitle(len(causes) + min(len(violated), 1))))
	details := map[string]bool{}
	for _, c := range causes[:min(len(causes), maxCauses)] {
		about := p.steps.style.bold(p.about(c))
		if len(c.messages) > 0 {
			about += ":"
		}
		line("  " + about)
		for _, m := range c.messages {
			lines := once(details, m.Severity, messagePrinter{p.steps}.lines(m))
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
			line("    not reached because of it: " + format.Plural(n, "resource", "resources") + " (" + someNames(c.unreached) + ")")
		}
	}
	if more := len(causes) - maxCauses; more > 0 {
		line("  ... and " + format.Plural(more, "other", "others") + ", which are above")
	}
	if len(violated) > 0 {
		line("  " + p.steps.style.bold("policies:") + " " + strings.Join(violated, ", "))
	}
	if len(stopped) > 0 {
		because := " because it stopped"
		if p.ending.Canceled {
			because = ""
		}
		line("  not reached" + because + ": " + format.Plural(len(stopped), "resource", "resources") + " (" + someNames(stopped) + ")")
	}
	if kept := p.kept(); len(kept) > 0 {
		line("  not declared, and kept because of the failure: " + format.Plural(len(kept), "resource", "resources") + " (" + someNames(kept) +
			"); the next update that does not fail deletes what is not declared then")
	}
	if old := p.remaining(); len(old) > 0 {
		line("  replaced, and the old ones are still there: " + format.Plural(len(old), "resource", "resources") + " (" + someNames(old) + ")")
	}
	if next != "" {
		line("  " + p.steps.style.bold("Next: ") + next)
	}
	return b.String(), shown
}

// violated describes the violations of policies that have made the operation fail: "2 mandatory violations of pet-len". The text has them elsewhere, with
// their messages.
func (p failurePrinter) violated() []string {
	if p.ending.Failed == "" || p.ending.Canceled {
		return nil
	}
	count := map[string]int{}
	for _, v := range p.model.policies.violations {
		if v.Level == stages.Mandatory {
			count[v.Policy.Name]++
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		out = append(out, format.Plural(count[name], "mandatory violation", "mandatory violations")+" of "+cleanLine(name))
	}
	return out
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

// together merges the causes of a cancelled operation: all of its steps were aborted for the same reason. Different messages stay among the
// diagnostics.
func together(causes []*cause) []*cause {
	var out []*cause
	var aborted *cause
	for _, c := range causes {
		switch {
		case c.urn == "":
			out = append(out, c)
		case aborted == nil:
			aborted = c
			out = append(out, c)
		default:
			aborted.others, aborted.unreached = append(aborted.others, c.resources()...), append(aborted.unreached, c.unreached...)
			aborted.messages = nil
		}
	}
	return out
}

// about names the resources of a cause: "16 operations were aborted: a, b, c, 13 more", if the user has requested the abort.
func (p failurePrinter) about(c *cause) string {
	all := c.resources()
	p.inPlanOrder(all) // the order of failing depends on timing
	switch {
	case p.ending.Canceled && len(all) > 1:
		return fmt.Sprintf("%d operations were aborted: %s", len(all), someNames(all))
	case p.ending.Canceled:
		return messagePrinter{p.steps}.speaker(c.urn) + " was aborted"
	case len(all) > 1:
		return fmt.Sprintf("%d resources (%s)", len(all), someNames(all))
	}
	return messagePrinter{p.steps}.speaker(c.urn)
}

// inPlanOrder sorts resources into the order of the plan, and those that nobody has planned after them, by types and names.
func (p failurePrinter) inPlanOrder(us []urn.URN) {
	at := map[urn.URN]int{}
	for i, u := range p.steps.Forecast.changes() {
		at[u] = i - math.MaxInt32
	}
	byName := ByKindAndName()
	slices.SortFunc(us, func(a, b urn.URN) int { return cmp.Or(cmp.Compare(at[a], at[b]), byName(a, b)) })
}

// causes returns the causes of the failure, in the order of the plan. A preview calls providers side by side, so that the order of its failures
// means nothing: its causes are in the order of types and names. That the operation has failed is not one of them. A logged error is a cause only if
// it may be the reason of the program for its own failure.
func (p failurePrinter) causes() []*cause {
	out := p.saying(func(d message) bool { return d.IsFailure() && !p.saysOnlyThat(d) })
	if _, whole := p.ending.Order[""]; p.ending.Failed != "" && !p.ending.Canceled && (whole || len(out) == 0) {
		out = p.saying(func(d message) bool { return d.Severity == stages.Error && !p.saysOnlyThat(d) })
	}
	if p.steps.IsPreview {
		return out
	}
	seq := func(c *cause) int {
		if n, known := p.ending.Order[c.urn]; known {
			return n
		}
		return math.MaxInt
	}
	slices.SortStableFunc(out, func(a, b *cause) int { return cmp.Compare(seq(a), seq(b)) })
	return out
}

// saying returns a cause for each resource with messages that f accepts.
func (p failurePrinter) saying(f func(message) bool) []*cause {
	var out []*cause
	for _, u := range (messagePrinter{p.steps}).speakers(p.model) {
		var errs []message
		for _, d := range p.model.diagnostics[u].list {
			if f(d) {
				errs = append(errs, d)
			}
		}
		if len(errs) > 0 {
			out = append(out, &cause{urn: u, messages: errs})
		}
	}
	return out
}

// saysOnlyThat reports whether a message contains only that the operation has failed.
func (p failurePrinter) saysOnlyThat(d message) bool {
	text := strings.TrimSpace(d.Message)
	return d.URN == "" && p.ending.Failed != "" && (text == p.ending.Failed+" failed" || text == p.ending.Failed+" cancelled")
}

// blame finds the unreached resources: those of each cause, and those that were stopped. What was kept is neither: it has a line of its own.
func (p failurePrinter) blame(causes []*cause) (stopped []urn.URN) {
	because := map[urn.URN]*cause{}
	for _, c := range causes {
		because[c.urn] = c
	}
	isKept := map[urn.URN]bool{}
	for _, u := range p.kept() {
		isKept[u] = true
	}
	open := map[urn.URN]bool{}
	var order []urn.URN
	add := func(u urn.URN) {
		if p.model.ended[u]&acted == 0 && !open[u] && !isKept[u] {
			open[u] = true
			order = append(order, u)
		}
	}
	for _, u := range p.steps.Forecast.changes() {
		add(u)
	}
	causeOf := map[urn.URN]urn.URN{}
	planned := len(order)
	removed := map[urn.URN]bool{}
	if p.steps.Forecast != nil {
		maps.Copy(removed, p.steps.Forecast.removals)
	}
	for _, d := range p.ending.Decided {
		add(d.URN)
		causeOf[d.URN] = d.Because
		removed[d.URN] = removed[d.URN] || d.Removes
	}
	slices.SortFunc(order[planned:], ByKindAndName()) // their order of arrival is unknown
	p.follow(causes, open, causeOf)
	for _, u := range order {
		switch c := because[causeOf[u]]; {
		case because[u] != nil || p.model.failed[u]:
		case u.IsRootStack() && !(p.ending.Canceled && removed[u]): // it is made first, and removed after everything that has failed
		case c != nil:
			c.unreached = append(c.unreached, u)
		default:
			stopped = append(stopped, u)
		}
	}
	return stopped
}

// follow records in causeOf the first cause from which dependencies lead to each open resource.
func (p failurePrinter) follow(causes []*cause, open map[urn.URN]bool, causeOf map[urn.URN]urn.URN) {
	if p.steps.Forecast == nil {
		return
	}
	next := map[urn.URN][]urn.URN{}
	for u, uses := range p.steps.Forecast.uses {
		for _, used := range uses {
			if p.steps.Forecast.removals[u] {
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

// kept returns the resources that the program has not declared and that stay because something failed.
func (p failurePrinter) kept() []urn.URN {
	if p.model.summary == nil {
		return nil
	}
	kept := slices.Clone(p.model.summary.Kept)
	slices.SortFunc(kept, ByKindAndName())
	return kept
}

// remaining returns the replaced resources whose old objects are still there, in the order of types and names.
func (p failurePrinter) remaining() []urn.URN {
	if p.model.remaining == 0 || p.steps.IsPreview {
		return nil
	}
	var out []urn.URN
	for u, is := range p.model.ended {
		if is.remains() {
			out = append(out, u)
		}
	}
	slices.SortFunc(out, ByKindAndName())
	return out
}

func (p failurePrinter) failedTitle(n int) string {
	title := cmp.Or(p.ending.Failed, p.steps.Noun, "operation") + " failed:"
	if p.ending.Canceled {
		return strings.ToUpper(title[:1]) + strings.TrimSuffix(title[1:], " failed:") + " cancelled:"
	}
	if n > 1 {
		title = fmt.Sprintf("%s %d causes", title, n) // in the order of the plan, which is not that of the failures
	}
	return strings.ToUpper(title[:1]) + title[1:]
}

// nextStep returns advice about the first cause, unless its message contains some. A cancelled operation may have no cause.
func (p failurePrinter) nextStep(causes []*cause) string {
	about := Failure{Preview: p.steps.IsPreview, Interrupted: p.ending.Canceled}
	if len(causes) > 0 {
		about.URN = causes[0].urn
	}
	if p.ending.NextStep == nil || len(causes) > 0 && p.ending.Advised[about.URN] {
		return ""
	}
	if s := p.model.summary; s != nil {
		about.Unknown, about.Interrupted = len(s.Lost) > 0, s.Result == stages.Canceled
	}
	return p.ending.NextStep(about)
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
