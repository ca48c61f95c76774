package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Limits on root causes, unless all of them are requested.
const (
	maxCausesShown  = 10 // in a report
	maxChangesShown = 3  // of one root cause
	maxNamesShown   = 3  // of the resources of one effect
	maxThroughShown = 3
)

// WriteRootCauses writes all root causes of an operation, the most dangerous first, one on each line.
func WriteRootCauses(o WhyOptions, l *why.Log) error {
	p := newCausePrinter(l, resourceNames{o.URNs}, style{o.Color})
	out := paragraphs{width: o.Width}
	causes := l.RootCauses()
	for _, c := range causes {
		out.line(0, p.text(c))
	}
	failures := 0
	for _, d := range l.Decisions {
		if d.Fate == stages.FateFailed && len(d.Errors) > 0 {
			failures++
			out.line(0, p.style.paint(red, "failed: ")+p.names.all([]urn.URN{d.URN})+": "+firstLine(d.Errors[0]))
		}
	}
	if len(causes)+failures == 0 {
		out.line(0, "nothing changes")
	}
	_, err := io.WriteString(o.Out, out.text.String())
	return err
}

// causesSection lists the root causes of a preview that add something to the rows of the resources.
func causesSection(p stepPrinter, l *why.Log) string {
	if l == nil || !p.IsPreview || l.Result != stages.Succeeded {
		return ""
	}
	var out paragraphs
	printer := newCausePrinter(l, resourceNames{p.ShowURNs}, p.style)
	causes := slices.DeleteFunc(l.RootCauses(), isSaidByRows)
	for i, c := range causes {
		if i == maxCausesShown && !p.ShowFullOutput {
			out.line(2, fmt.Sprintf("... and %d more; `%s why` shows them", len(causes)-i, p.Command))
			break
		}
		out.line(2, printer.text(c))
	}
	if len(causes) == 0 {
		return ""
	}
	return p.style.bold("Root causes:") + "\n" + out.text.String()
}

// isSaidByRows reports whether the rows of the resources already show a root cause: it changes no value, or only harmlessly, and
// nothing follows from it.
func isSaidByRows(c why.RootCause) bool {
	if why.Count(c.Following) > 0 {
		return false
	}
	if len(c.Changes) == 0 {
		return true
	}
	return why.Count(c.Direct) == 1 && c.Direct[0].Op.Danger() > stages.OpReplace.Danger() && c.Setting == ""
}

// causePrinter describes root causes with their effects.
type causePrinter struct {
	names   resourceNames
	style   style
	refresh bool // only the state changes
	planned bool // not everything was done
}

func newCausePrinter(l *why.Log, names resourceNames, s style) causePrinter {
	return causePrinter{names: names, style: s, refresh: l.Operation == "refresh", planned: l.Preview || l.Result != stages.Succeeded}
}

// text describes a root cause and its effects: "`region` "eu" → "us" in the program (index.ts:14) replaces 30 (r0, r1, r2, …);
// 2970 follow through `upstream`".
func (p causePrinter) text(c why.RootCause) string {
	text := p.causeText(c)
	if effects := p.effectsText(c.Direct, len(c.Changes) > 1); effects != "" {
		text += " " + effects
	}
	if n := why.Count(c.Following); n > 0 {
		text += "; " + p.followingText(c, n)
	}
	return text
}

// causeText names a root cause, as the subject of a sentence.
func (p causePrinter) causeText(c why.RootCause) string {
	if len(c.Changes) == 0 {
		text := p.style.bold(reasonSubject(c))
		if len(c.Positions) == 1 {
			text += positionsText(c.Positions)
		}
		if text += ":"; len(c.Of) > 0 {
			text += " " + p.names.counted(c.Of)
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
		parts = append(parts, format.Plural(more, "other change", "other changes"))
	}
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}

func (p causePrinter) changeText(c why.Change) string {
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
	return fmt.Sprintf(" (%s and %s)", cleanLine(first), format.Plural(len(places)-1, "other place", "other places"))
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
	stages.ReasonInterrupted:    "an earlier replacement was not completed",
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
func (p causePrinter) effectsText(effects []why.Effect, several bool) string {
	var parts []string
	for _, e := range effects {
		done, plan, object := p.effectVerb(e.Op)
		verb := done
		switch {
		case p.planned && several:
			verb = plan
		case p.planned:
			verb = plan + "s"
		}
		parts = append(parts, p.style.paint(wordsFor(e.Op).colour, verb)+object+" "+p.names.counted(e.Resources))
	}
	return strings.Join(parts, ", ")
}

// effectVerb returns the verb of a step, as "replaced" and as "replace", and the part of the resource that it acts on, "" for the
// whole.
func (p causePrinter) effectVerb(op stages.Op) (done, plan, object string) {
	switch {
	case p.refresh && op == stages.OpUpdate:
		return "updated", "update", " the record of"
	case p.refresh && op == stages.OpDelete:
		return "dropped", "drop", " the record of"
	case op == stages.OpRefresh:
		return "changed", "change", ""
	case op == stages.OpDeleteReplaced || op == stages.OpDiscardReplaced:
		return "deleted", "delete", " the old copy of"
	}
	w := wordsFor(op)
	return w.done, w.plan, ""
}

// followingText describes the changes that follow from a root cause: "2970 follow through `upstream` (2900 replaced, 70 updated)".
func (p causePrinter) followingText(c why.RootCause, n int) string {
	follow := map[bool]string{true: "follow", false: "followed"}[p.planned]
	text := fmt.Sprintf("%d %s", n, follow)
	if n == 1 {
		text = p.names.all(c.Following[0].Resources) + " " + follow
		if p.planned {
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
