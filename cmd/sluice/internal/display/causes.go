package display

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/maruel/natural"

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
	p := &whyPrinter{WhyOptions: o, style: style{o.Color}}
	causes := l.RootCauses()
	for _, c := range causes {
		p.line(0, p.rootCause(c, l.Preview || l.Result != stages.Succeeded)) // not all was done, if it failed
	}
	if len(causes) == 0 {
		p.line(0, "nothing changes")
	}
	_, err := io.WriteString(p.Out, p.text.String())
	return err
}

// causesSection lists the root causes of a preview that add something to the rows of the resources.
func (p stepPrinter) causesSection(l *why.Log) string {
	if l == nil || !p.IsPreview || l.Result != stages.Succeeded {
		return ""
	}
	w := &whyPrinter{WhyOptions: WhyOptions{URNs: p.ShowURNs, Refresh: l.Operation == "refresh"}, style: p.style}
	causes := slices.DeleteFunc(l.RootCauses(), isSaidByRows)
	for i, c := range causes {
		if i == maxCausesShown && !p.ShowFullOutput {
			w.line(2, fmt.Sprintf("... and %d more; `%s why` shows them", len(causes)-i, p.Command))
			break
		}
		w.line(2, w.rootCause(c, true))
	}
	if len(causes) == 0 {
		return ""
	}
	return p.style.bold("Root causes:") + "\n" + w.text.String()
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
	if len(c.Changes) == 0 && len(c.Positions) == 1 {
		return p.style.bold(reasonSubject(c)) + positionsText(c.Positions) + ":"
	}
	if len(c.Changes) == 0 {
		return p.style.bold(reasonSubject(c)) + ":"
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
	stages.ReasonImportCommand:  "asked for (import)",
}

func reasonSubject(c why.RootCause) string {
	if text := reasonSubjects[c.Reason]; text != "" {
		return text
	}
	return strings.TrimPrefix(cleanLine(c.Because), "because ")
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
