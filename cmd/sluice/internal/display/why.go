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
	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/aliases"
	"github.com/sluice-iac/sluice/internal/text/align"
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
		if !isRepeated(e, i) {
			p.link(i, "", -1)
		}
	}
	_, err := io.WriteString(o.Out, p.text.String())
	return err
}

// isRepeated reports whether another decision about the resource has the same reason as a refresh: an object that is gone is created again.
func isRepeated(e *why.Explanation, at int) bool {
	l := e.Links[at]
	return l.Op == stages.OpRefresh && l.Reason == stages.ReasonVanished && slices.ContainsFunc(e.Links[:e.Start], func(other why.Link) bool {
		return other.Op != stages.OpRefresh && other.Reason == stages.ReasonVanished
	})
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
		case stages.ReasonOmitted, stages.ReasonRefused:
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
		if l.FailedDependency == "" {
			return p.style.paint(yellow, ", and was skipped because the program failed")
		}
		return p.style.paint(yellow, ", and was skipped because "+p.names([]urn.URN{l.FailedDependency})+" failed")
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
	p.line(1, because)
	for _, text := range l.Errors {
		for i, line := range strings.Split(strings.TrimSpace(clean(text)), "\n") {
			if i == 0 {
				line = p.style.paint(red, "error: ") + line
			}
			p.line(1, line)
		}
	}
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

// rootCause describes a root cause and its effects: "`region` "eu" → "us" in the program (index.ts:14) replaces 30 (r0, r1, r2, …);
// 2970 follow through `upstream`".
func (p *whyPrinter) rootCause(c why.RootCause, planned bool) string {
	text := p.causeText(c)
	if effects := p.effectsText(c.Direct, planned, len(c.Changes) > 1); effects != "" {
		text += " " + effects
	}
	if n := why.Count(c.Following); n > 0 {
		text += "; " + p.followingText(c, n, planned)
	}
	return text
}

// causeText names a root cause, as the subject of a sentence.
func (p *whyPrinter) causeText(c why.RootCause) string {
	if len(c.Changes) == 0 {
		text := p.style.bold(reasonSubject(c))
		if len(c.Positions) == 1 {
			text += positionsText(c.Positions)
		}
		if text += ":"; len(c.Of) > 0 {
			text += " " + p.namesText(c.Of)
		}
		return text
	}
	var parts []string
	shown := c.Changes[:min(len(c.Changes), maxChangesShown)]
	for i, change := range shown {
		text := p.changeText(change)
		if i+1 == len(shown) || shown[i+1].Origin != change.Origin || change.Setting != nil { // else the origin is written after the next change
			text += changeOrigin(change, c.Positions)
		}
		parts = append(parts, text)
	}
	if more := len(c.Changes) - len(shown); more > 0 {
		parts = append(parts, plural(more, "other change", "other changes"))
	}
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

func (p *whyPrinter) changeText(c why.Change) string {
	text := p.style.bold("`" + cleanLine(c.Place()) + "`")
	if c.Setting != nil {
		text = "config " + p.style.bold(cleanLine(c.Path))
	}
	if c.Old != nil || c.New != nil {
		text += " " + valueText(c.Old) + " → " + valueText(c.New)
	}
	return text
}

// changeOrigin returns the origin of a change. places are those of all changes of the root cause.
func changeOrigin(c why.Change, places []string) string {
	switch {
	case c.Setting != nil && c.Setting.Position != "":
		return " (" + cleanLine(c.Setting.Position) + ")"
	case c.Setting != nil:
		return ""
	}
	switch c.Origin {
	case why.FromConfiguration:
		return " in the configuration of the stack or the version of the package"
	case why.FromEarlier:
		return " (from an earlier operation)"
	case why.FromOutside:
		return " (changed outside)"
	case why.FromPolicy:
		return " (changed by a policy)"
	case why.FromCheck:
		return " (filled in by the provider)"
	case why.FromProvider:
		return " (the program gives the same; the provider sees a difference)"
	}
	return " in the program" + positionsText(places)
}

// positionsText names the place of a root cause, or the first of several.
func positionsText(places []string) string {
	switch len(places) {
	case 0:
		return ""
	case 1:
		return " (" + cleanLine(places[0]) + ")"
	}
	first := slices.MinFunc(places, natural.Compare)
	return fmt.Sprintf(" (%s and %s)", cleanLine(first), plural(len(places)-1, "other place", "other places"))
}

// reasonSubjects name root causes that have no changed value.
var reasonSubjects = map[stages.ReasonKind]string{
	stages.ReasonNew:            "new in the program",
	stages.ReasonNotInProgram:   "no longer in the program",
	stages.ReasonVanished:       "gone outside",
	stages.ReasonDrift:          "changed outside",
	stages.ReasonProviderSaysSo: "the provider reports a change without naming a property",
	stages.ReasonTrigger:        "another replacement trigger",
	stages.ReasonRequested:      "asked for (--replace)",
	stages.ReasonTainted:        "tainted",
	stages.ReasonInterrupted:    "an earlier replacement was interrupted",
	stages.ReasonInitErrors:     "not healthy after the last update",
	stages.ReasonReplaced:       "left by an earlier replacement",
	stages.ReasonTakenOver:      "managed by the program now",
	stages.ReasonDestroy:        "the stack is destroyed",
	stages.ReasonImport:         "imported by the program",
	stages.ReasonRead:           "read by the program",
	stages.ReasonReadOther:      "the program reads another object",
	stages.ReasonImportCommand:  "asked for (import)",
}

func reasonSubject(c why.RootCause) string {
	if c.Departure != nil {
		return departureSubject(c.Departure)
	}
	if text := reasonSubjects[c.Reason]; text != "" {
		return text
	}
	return strings.TrimPrefix(cleanLine(c.Because), "because ")
}

// departureSubject names a departure as a root cause.
func departureSubject(d *why.Departure) string {
	switch d.By {
	case why.DepartedByRefresh:
		return "no longer there since the refresh"
	case why.DepartedByDelete:
		return "removed from the state (state delete)"
	}
	return "renamed in the state, from " + cleanLine(d.From.Name()) + " to " + cleanLine(d.To.Name()) + " (state rename)"
}

// effectsText describes the effects of one cause, or of several: "deletes a, replaces 30 (r0, r1, r2, …)".
func (p *whyPrinter) effectsText(effects []why.Effect, planned, several bool) string {
	var parts []string
	for _, e := range effects {
		done, plan, object := p.effectVerb(e.Op)
		verb := done
		switch {
		case planned && several:
			verb = plan
		case planned:
			verb = plan + "s"
		}
		parts = append(parts, p.style.paint(wordsFor(e.Op).colour, verb)+object+" "+p.namesText(e.Resources))
	}
	return strings.Join(parts, ", ")
}

// effectVerb returns the verb of a step, as "replaced" and as "replace", and the part of the resource that it acts on, "" for the
// whole.
func (p *whyPrinter) effectVerb(op stages.Op) (done, plan, object string) {
	switch {
	case p.Refresh && op == stages.OpUpdate:
		return "updated", "update", " the record of"
	case p.Refresh && op == stages.OpDelete:
		return "dropped", "drop", " the record of"
	case op == stages.OpRefresh:
		return "changed", "change", ""
	case op == stages.OpDeleteReplaced || op == stages.OpDiscardReplaced:
		return "deleted", "delete", " the old copy of"
	}
	w := wordsFor(op)
	return w.done, w.plan, ""
}

// namesText names a few resources and counts them.
func (p *whyPrinter) namesText(us []urn.URN) string {
	if len(us) == 1 {
		return p.names(us)
	}
	shown := slices.SortedStableFunc(slices.Values(us), func(a, b urn.URN) int { return natural.Compare(a.Name(), b.Name()) })
	text := p.names(shown[:min(len(shown), maxNamesShown)])
	if len(shown) > maxNamesShown {
		text += ", …"
	}
	return fmt.Sprintf("%d (%s)", len(us), text)
}

// followingText describes the changes that follow from a root cause: "2970 follow through `upstream` (2900 replaced, 70 updated)".
func (p *whyPrinter) followingText(c why.RootCause, n int, planned bool) string {
	follow := map[bool]string{true: "follow", false: "followed"}[planned]
	text := fmt.Sprintf("%d %s", n, follow)
	if n == 1 {
		text = p.names(c.Following[0].Resources) + " " + follow
		if planned {
			text += "s"
		}
	}
	if len(c.Through) > 0 {
		quoted := make([]string, 0, maxThroughShown)
		for _, path := range c.Through[:min(len(c.Through), maxThroughShown)] {
			quoted = append(quoted, "`"+cleanLine(path)+"`")
		}
		text += " through " + strings.Join(quoted, ", ")
		if more := len(c.Through) - len(quoted); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	if len(c.Following) == 1 && len(c.Direct) == 1 && c.Following[0].Op == c.Direct[0].Op {
		return text
	}
	var kinds []string
	for _, e := range c.Following {
		w := wordsFor(e.Op)
		kind := p.style.paint(w.colour, w.done)
		if len(c.Following) > 1 {
			kind = fmt.Sprintf("%d %s", len(e.Resources), kind)
		}
		kinds = append(kinds, kind)
	}
	return text + " (" + strings.Join(kinds, ", ") + ")"
}

// listText names the first resources in the order of their names, and counts the others.
func (p *whyPrinter) listText(us []urn.URN, most int) string {
	if len(us) == most+1 {
		most++ // a name is as short as a count
	}
	sorted := slices.SortedStableFunc(slices.Values(us), func(a, b urn.URN) int { return natural.Compare(a.Name(), b.Name()) })
	text := p.names(sorted[:min(len(sorted), most)])
	if more := len(sorted) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
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
