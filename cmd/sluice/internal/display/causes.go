package display

import (
	"fmt"
	"io"
	"slices"

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
	failures := 0
	for _, d := range l.Decisions {
		if d.Fate == stages.FateFailed && len(d.Errors) > 0 {
			failures++
			p.line(0, p.style.paint(red, "failed: ")+p.names([]urn.URN{d.URN})+": "+firstLine(d.Errors[0]))
		}
	}
	if len(causes)+failures == 0 {
		p.line(0, "nothing changes")
	}
	_, err := io.WriteString(p.Out, p.text.String())
	return err
}

// causesSection lists the root causes of a preview that add something to the rows of the resources.
func causesSection(p stepPrinter, l *why.Log) string {
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
