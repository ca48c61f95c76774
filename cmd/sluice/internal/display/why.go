package display

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/aliases"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// WhyOptions define the form of an explanation.
type WhyOptions struct {
	Out   io.Writer
	Color bool
	// Width is the width at which lines are wrapped; 0 wraps none.
	Width   int
	URNs    bool   // name resources by their URNs
	Runtime string // of the program: the language of aliases
	// Refresh is true for the explanation of a refresh, which changes only the state.
	Refresh bool
	// Preview is true for the explanation of a preview, which marks changes that are only possible.
	Preview bool
}

// WriteExplanation writes a chain of reasons: the decision about the resource with its reason, then the decisions that led to
// it, each after an arrow.
func WriteExplanation(o WhyOptions, e *why.Explanation) error {
	p := &whyPrinter{options: o, style: style{o.Color}, names: resourceNames{o.URNs}, out: paragraphs{width: o.Width}, explanation: e, written: map[int]bool{}}
	p.changes = changePrinter{p.names, p.style}
	for i := range e.Start {
		if !isRepeated(e, i) {
			p.link(i, "", -1)
		}
	}
	_, err := io.WriteString(o.Out, p.out.text.String())
	return err
}

// isRepeated reports whether another decision about the resource has the same reason as a refresh: an object that is gone is created again.
func isRepeated(e *why.Explanation, at int) bool {
	l := e.Links[at]
	return l.Op == stages.OpRefresh && l.Reason == stages.ReasonVanished && slices.ContainsFunc(e.Links[:e.Start], func(other why.Link) bool {
		return other.Op != stages.OpRefresh && other.Reason == stages.ReasonVanished
	})
}

// whyPrinter writes an explanation.
type whyPrinter struct {
	options     WhyOptions
	style       style
	names       resourceNames
	changes     changePrinter
	out         paragraphs
	explanation *why.Explanation
	written     map[int]bool
}

// link writes a decision and the decisions that led to it. above is the link that this one is the cause of, if that link was
// written just before.
func (p *whyPrinter) link(at int, arrow string, above int) {
	l := p.explanation.Links[at]
	if p.written[at] {
		if arrow != "" && above >= 0 {
			p.out.line(0, arrow+p.names.one(l.URN)+", as above, is also a cause for "+p.names.one(p.explanation.Links[above].URN))
		}
		return
	}
	p.written[at] = true
	head := p.style.bold(p.names.one(l.URN)) + " " + p.style.paint(wordsFor(l.Op).colour, p.verb(l)) + p.orderOf(l) + p.fateOf(l)
	if above >= 0 {
		head += "; it is also a cause for " + p.names.one(p.explanation.Links[above].URN)
	}
	p.out.line(0, arrow+head)
	p.reasons(l)
	for i, next := range l.Next {
		from := -1
		if i > 0 || p.written[next] {
			from = at
		}
		p.link(next, "← ", from)
	}
}

// verb returns the verb for the change of the resource.
func (p *whyPrinter) verb(l why.Link) string {
	was := "is "
	if l.Fate != stages.FateDone {
		was = "was to be "
	}
	if l.Possible != nil {
		was += "possibly "
	}
	switch l.Op {
	case stages.OpDeleteReplaced, stages.OpDiscardReplaced:
		return "had an old copy, which " + was + "deleted"
	case stages.OpRemovePendingReplace:
		return was + "not made again"
	case stages.OpSame:
		switch l.Reason {
		case stages.ReasonUndecided:
			return "was kept"
		case stages.ReasonOmitted, stages.ReasonRefused:
			return "was to be declared"
		}
		return was + "unchanged"
	case stages.OpRefresh:
		return was + "read"
	case stages.OpUpdate:
		if p.options.Refresh {
			return was + "recorded as it was found"
		}
	case stages.OpDelete:
		if p.options.Refresh {
			return was + "forgotten"
		}
	}
	return was + wordsFor(l.Op).done
}

// orderOf returns the order of a replacement, with the reason.
func (p *whyPrinter) orderOf(l why.Link) string {
	if l.Op != stages.OpReplace || l.Reason == "import" || l.Reason == "read-other" {
		return ""
	}
	if !l.DeleteFirst {
		return ", created before the old one is deleted"
	}
	return ", deleted before the new one is created" + orderText(" (%s)", l.Order)
}

func (p *whyPrinter) fateOf(l why.Link) string {
	switch l.Fate {
	case stages.FateFailed:
		return p.style.paint(red, ", and that failed")
	case stages.FateSkipped:
		if l.FailedDependency == "" {
			return p.style.paint(yellow, ", and was skipped because the program failed")
		}
		return p.style.paint(yellow, ", and was skipped because "+p.names.all([]urn.URN{l.FailedDependency})+" failed")
	case stages.FateNotReached:
		return p.style.paint(yellow, ", and the operation ended before")
	}
	return ""
}

// reasons writes the reason with its facts.
func (p *whyPrinter) reasons(l why.Link) {
	because := cleanLine(l.Because) + decidedBy(l)
	if len(l.Properties)+len(l.Options) == 0 && l.Position != "" && (slices.Contains(l.Roots, why.RootProgram) || l.Reason == stages.ReasonRefused) {
		because += " (" + cleanLine(l.Position) + ")"
	}
	p.out.line(1, because)
	for _, text := range l.Errors {
		for i, line := range strings.Split(strings.TrimSpace(clean(text)), "\n") {
			if i == 0 {
				line = p.style.paint(red, "error: ") + line
			}
			p.out.line(1, line)
		}
	}
	switch {
	case l.Possible != nil:
		p.out.line(1, "possible: "+possiblyText(l.Possible, l.Possibly))
	case p.options.Preview && isChange(l.Op) && l.Fate == stages.FateDone:
		p.out.line(1, "certain: it does not depend on an unknown value")
	}
	for _, c := range l.Properties {
		p.out.line(2, p.changes.change(l, c))
	}
	if l.More > 0 {
		p.out.line(2, fmt.Sprintf("and %s more", format.Plural(l.More, "property", "properties")))
	}
	for _, c := range l.Options {
		p.out.line(2, p.changes.change(l, c))
	}
	if l.OldURN != "" {
		p.out.line(2, "its name was "+cleanLine(string(l.OldURN)))
	}
	if l.Rename != nil {
		p.out.line(1, p.rename(l))
	}
	if len(l.Ignored) > 0 {
		quoted := make([]string, len(l.Ignored))
		for i, path := range l.Ignored {
			quoted[i] = "`" + cleanLine(path) + "`"
		}
		p.out.line(2, "the program gives another "+strings.Join(quoted, ", ")+", which ignoreChanges leaves as recorded")
	}
}

// rename names the other resource of a probable rename, and how to keep its object.
func (p *whyPrinter) rename(l why.Link) string {
	r := *l.Rename
	looks := " looks like "
	if r.Possible {
		looks = " has something in common with "
	}
	text := p.names.one(r.To) + ", which is created," + looks + "it: if that is a rename, "
	if l.URN == r.To {
		text = "it" + looks + p.names.one(r.From) + ", which is deleted: if this is a rename, "
	}
	if r.With != "" {
		return text + "the alias of " + p.names.one(r.With) + " keeps it too"
	}
	return text + "an alias keeps it: " + cleanLine(aliases.Text(p.options.Runtime, r))
}

// decidedBy names the comparison that found the difference, or says that there is none.
func decidedBy(l why.Link) string {
	switch {
	case l.DecidedBy == "Diff" && l.Reason == "unchanged" && l.AnsweredAt != nil:
		return ": its provider saw no difference on " + l.AnsweredAt.Format("2006-01-02 at 15:04:05 UTC") + ", and was not asked again (Diff)"
	case l.DecidedBy == "Diff" && l.Reason == "unchanged":
		return ": its provider sees no difference (Diff)"
	case l.DecidedBy == "Read" && l.Reason == "unchanged":
		return ": its provider found it as recorded (Read)"
	case l.DecidedBy == "Diff" && l.Op == stages.OpReplace && l.Reason == "inputs":
		return ": its provider says that this needs a replacement (Diff)"
	case l.DecidedBy == "Diff" && l.Reason == "provider-decided" && len(l.Names) > 0 && l.Op == stages.OpReplace:
		return ": its provider says that a replacement is needed, and names no property (Diff)"
	case l.DecidedBy == "Diff" && l.Reason == "provider-decided" && len(l.Names) > 0:
		return " (Diff, which names no property)"
	case l.DecidedBy == "DiffConfig":
		return ": the new one says that this needs a replacement (DiffConfig)"
	case l.DecidedBy == "Diff" && l.Reason != "options":
		return " (Diff)"
	case l.DecidedBy == "Read":
		return " (Read)"
	}
	return ""
}

// paragraphs collects indented texts.
type paragraphs struct {
	width int // at which lines are wrapped; 0 wraps none
	text  strings.Builder
}

// line writes an indented text, wrapped at the width.
func (p *paragraphs) line(depth int, text string) {
	indent := strings.Repeat("  ", depth)
	if p.width <= 0 {
		p.text.WriteString(indent + text + "\n")
		return
	}
	column, started := len(indent), false
	p.text.WriteString(indent)
	for _, word := range strings.Split(text, " ") {
		size := utf8.RuneCountInString(ansi.Strip(word))
		switch {
		case !started:
		case column+1+size > p.width:
			p.text.WriteString("\n" + indent + "    ")
			column = len(indent) + 4
		default:
			p.text.WriteString(" ")
			column++
		}
		p.text.WriteString(word)
		column += size
		started = true
	}
	p.text.WriteString("\n")
}
