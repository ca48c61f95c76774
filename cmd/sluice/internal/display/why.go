package display

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/aliases"
	"github.com/sluice-iac/sluice/internal/align"
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
	p := &whyPrinter{WhyOptions: o, style: style{o.Color}, explanation: e, written: map[int]bool{}}
	for i := range e.Start {
		p.link(i, "", -1)
	}
	_, err := io.WriteString(o.Out, p.text.String())
	return err
}

type whyPrinter struct {
	WhyOptions
	style       style
	explanation *why.Explanation
	written     map[int]bool
	text        strings.Builder
}

// link writes a decision and the decisions that led to it. above is the link that this one is the cause of, if that link was
// written just before.
func (p *whyPrinter) link(at int, arrow string, above int) {
	l := p.explanation.Links[at]
	if p.written[at] {
		if arrow != "" && above >= 0 {
			p.line(0, arrow+p.name(l.URN)+", as above, is also a cause for "+p.name(p.explanation.Links[above].URN))
		}
		return
	}
	p.written[at] = true
	head := p.style.bold(p.name(l.URN)) + " " + p.style.paint(wordsFor(l.Op).colour, p.verb(l)) + p.orderOf(l) + p.fateOf(l)
	if above >= 0 {
		head += "; it is also a cause for " + p.name(p.explanation.Links[above].URN)
	}
	p.line(0, arrow+head)
	p.reasons(l)
	for i, next := range l.Next {
		from := -1
		if i > 0 || p.written[next] {
			from = at
		}
		p.link(next, "← ", from)
	}
}

// line writes an indented text, wrapped at the width of the terminal.
func (p *whyPrinter) line(depth int, text string) {
	indent := strings.Repeat("  ", depth)
	if p.Width <= 0 {
		p.text.WriteString(indent + text + "\n")
		return
	}
	column, started := len(indent), false
	p.text.WriteString(indent)
	for _, word := range strings.Split(text, " ") {
		size := utf8.RuneCountInString(ansi.Strip(word))
		switch {
		case !started:
		case column+1+size > p.Width:
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

// name returns the name under which a resource is shown.
func (p *whyPrinter) name(u urn.URN) string {
	if p.URNs {
		return cleanLine(string(u))
	}
	return fmt.Sprintf("%s (%s)", cleanLine(u.Name()), cleanLine(string(u.Type())))
}

func (p *whyPrinter) names(us []urn.URN) string {
	out := make([]string, len(us))
	for i, u := range us {
		out[i] = cleanLine(u.Name())
		if p.URNs {
			out[i] = cleanLine(string(u))
		}
	}
	return strings.Join(out, ", ")
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
		case stages.ReasonOmitted:
			return "was to be declared"
		}
		return was + "unchanged"
	case stages.OpRefresh:
		return was + "read"
	case stages.OpUpdate:
		if p.Refresh {
			return was + "recorded as it was found"
		}
	case stages.OpDelete:
		if p.Refresh {
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
		return p.style.paint(yellow, ", and was skipped because "+p.names([]urn.URN{l.FailedDependency})+" failed")
	case stages.FateNotReached:
		return p.style.paint(yellow, ", and the operation ended before")
	}
	return ""
}

// reasons writes the reason with its facts.
func (p *whyPrinter) reasons(l why.Link) {
	because := cleanLine(l.Because) + decidedBy(l)
	if len(l.Properties)+len(l.Options) == 0 && l.Position != "" && slices.Contains(l.Roots, why.RootProgram) {
		because += " (" + cleanLine(l.Position) + ")"
	}
	p.line(1, because)
	switch {
	case l.Possible != nil:
		p.line(1, "possible: "+possiblyText(l.Possible, l.Possibly))
	case p.Preview && isChange(l.Op) && l.Fate == stages.FateDone:
		p.line(1, "certain: it does not depend on an unknown value")
	}
	for _, c := range l.Properties {
		p.line(2, p.change(l, c))
	}
	if l.More > 0 {
		p.line(2, fmt.Sprintf("and %s more", plural(l.More, "property", "properties")))
	}
	for _, c := range l.Options {
		p.line(2, p.change(l, c))
	}
	if l.OldURN != "" {
		p.line(2, "its name was "+cleanLine(string(l.OldURN)))
	}
	if l.Rename != nil {
		p.line(1, p.rename(l))
	}
	if len(l.Ignored) > 0 {
		quoted := make([]string, len(l.Ignored))
		for i, path := range l.Ignored {
			quoted[i] = "`" + cleanLine(path) + "`"
		}
		p.line(2, "the program gives another "+strings.Join(quoted, ", ")+", which ignoreChanges leaves as recorded")
	}
}

// rename names the other resource of a probable rename, and how to keep its object.
func (p *whyPrinter) rename(l why.Link) string {
	r := *l.Rename
	looks := " looks like "
	if r.Possible {
		looks = " has something in common with "
	}
	text := p.name(r.To) + ", which is created," + looks + "it: if that is a rename, "
	if l.URN == r.To {
		text = "it" + looks + p.name(r.From) + ", which is deleted: if this is a rename, "
	}
	if r.With != "" {
		return text + "the alias of " + p.name(r.With) + " keeps it too"
	}
	return text + "an alias keeps it: " + cleanLine(aliases.Text(p.Runtime, r))
}

// decidedBy names the comparison that found the difference, or says that there is none.
func decidedBy(l why.Link) string {
	switch {
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

// change formats one changed property or option: its values, and the source of the new one.
func (p *whyPrinter) change(l why.Link, c why.Change) string {
	text := cleanLine(c.Place())
	if strings.HasSuffix(c.Kind, "replace") {
		text += " (forces replacement)"
	}
	text += ":"
	switch {
	case c.Old == nil && c.New == nil:
	case l.Reason == "dependency-replaced":
		text += " was " + valueText(c.Old) + ","
	default:
		text += " " + p.values(c.Old, c.New) + ","
	}
	return text + " " + p.origin(l, c)
}

func (p *whyPrinter) origin(l why.Link, c why.Change) string {
	switch c.Origin {
	case why.FromResource:
		return "from " + p.names(c.From)
	case why.FromEarlier:
		return "from " + p.names(c.From) + ", which an earlier operation changed"
	case why.FromConfiguration:
		if c.Setting != nil {
			return settingOrigin(l, c)
		}
		return "in the configuration of the stack or the version of the package"
	case why.FromOutside:
		if c.Recorded != nil {
			return "changed outside: recorded was " + valueText(c.Recorded)
		}
		return "changed outside"
	case why.FromCheck:
		return "filled in by its provider (Check)"
	case why.FromPolicy:
		return "changed by a policy"
	case why.FromProvider:
		return "though the program gives the same as before: its provider sees a difference to what exists"
	}
	text := "in the program"
	if at := cmp.Or(c.Position, l.Position); at != "" {
		text += " (" + cleanLine(at) + ")"
	}
	switch {
	case len(c.From) > 0:
		text += ", unless it is made of " + p.names(c.From)
	case len(c.Was) > 0 && len(c.Is) > 0:
		text += ", where it comes from " + p.names(c.Is) + " and came from " + p.names(c.Was)
	case len(c.Was) > 0:
		text += ", where it no longer comes from " + p.names(c.Was)
	case len(c.Is) > 0:
		text += ", where it comes from " + p.names(c.Is) + " now"
	}
	return text
}

// values formats the old and the new value of a property.
func (p *whyPrinter) values(old, new []byte) string {
	was, oldIsText := textOf(old)
	is, newIsText := textOf(new)
	if !oldIsText || !newIsText {
		return p.style.paint(red, valueText(old)) + arrow + p.style.paint(green, valueText(new))
	}
	isCut := strings.HasSuffix(was, "…") || strings.HasSuffix(is, "…")
	if what, same := sameDocument(was, is); same && !isCut {
		return what
	}
	o, n := align.Emphasis(was, is)
	return p.quoted(red, o) + arrow + p.quoted(green, n)
}

// quoted formats a text of which some parts differ. It paints each word separately, because lines may be broken between them.
func (p *whyPrinter) quoted(c colour, parts []align.Part) string {
	text := p.style.paint(c, `"`)
	for _, part := range parts {
		for i, word := range strings.Split(quotedPart(part.Text), " ") {
			if i > 0 {
				text += " "
			}
			text += p.style.difference(c, part.Differs, word)
		}
	}
	return text + p.style.paint(c, `"`)
}

// textOf returns the text of a value of the log. ok is false for other values, and for the words that stand for a missing
// value.
func textOf(v []byte) (text string, ok bool) {
	if len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &text) != nil {
		return "", false
	}
	return text, valueText(v) != text
}

// settingOrigin names the setting that a changed value comes from, with the values of the setting if they differ from it: "from
// config shop:region (Pulumi.dev.yaml:3), used at Pulumi.yaml:14".
func settingOrigin(l why.Link, c why.Change) string {
	s := c.Setting
	text := "from config " + cleanLine(s.Key)
	if !bytes.Equal(s.Old, c.Old) || !bytes.Equal(s.New, c.New) {
		text += " " + valueText(s.Old) + " → " + valueText(s.New)
	}
	if s.Position != "" {
		text += " (" + cleanLine(s.Position) + ")"
	}
	if at := cmp.Or(c.Position, l.Position); at != "" {
		text += ", used at " + cleanLine(at)
	}
	return text
}

// valueText formats a value of the log for people.
func valueText(v []byte) string {
	switch text := string(v); text {
	case "":
		return "nothing"
	case `"[secret]"`, `"[unknown]"`:
		return strings.Trim(text, `"`)
	default:
		return cleanLine(text)
	}
}
