package display

import (
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Clean returns a text of somebody else as it may be shown: without colours, and with what controls terminals or the direction of writing
// made visible.
func Clean(text string) string { return clean(text) }

// CleanLine returns a name, or another text that must stay on one line, as it may be shown: with all controls made visible.
func CleanLine(text string) string { return cleanLine(text) }

// ShortType returns a type as people write it: "aws:s3/bucket:Bucket" is "aws:s3:Bucket".
func ShortType(t urn.Type) string { return shortType(t) }

// Done says what a step has done or, in a preview, would do: "created", "create".
func Done(op stages.Op, preview bool) string {
	switch w := wordsFor(op); {
	case op == stages.OpSame:
		return w.changed
	case preview:
		return w.plan
	default:
		return w.done
	}
}

// Doing says what a step does: "creating".
func Doing(op stages.Op) string { return wordsFor(op).running }

// Sign returns the sign of a step: "+", "+-".
func Sign(op stages.Op) string { return wordsFor(op).mark }

// ByDanger returns what can become of resources, those first that may lose something.
func ByDanger() []stages.Op {
	ops := append(slices.Clone(summaryOrder[:]), stages.OpRefresh, stages.OpRead)
	slices.SortStableFunc(ops, func(a, b stages.Op) int { return a.Danger() - b.Danger() })
	return ops
}

// RootCause describes a root cause of an operation, and what follows from it, on one line.
func RootCause(c why.RootCause, l *why.Log) string {
	p := &whyPrinter{WhyOptions: WhyOptions{Refresh: l.Operation == "refresh"}}
	return p.rootCause(c, l.Preview || l.Result != stages.Succeeded)
}

// IsSaidByResources reports whether a root cause says nothing that the resources do not say themselves.
func IsSaidByResources(c why.RootCause) bool { return isSaidByRows(c) }

// Possibly says why a change is only possible, and what is done otherwise; "" for one that is certain.
func Possibly(r stages.Reason) string {
	if r.Possible == nil {
		return ""
	}
	return possiblyText(r.Possible, r.Possibly())
}

// PossiblyOf says how many of the counted changes are only possible: ", 2 of them possibly".
func PossiblyOf(possible, all int) string { return possiblyOf(possible, all) }

// Renamed names a resource that looks like one that goes, and says what was different: "aws:s3:Bucket archive, which was logs".
func Renamed(r renames.Rename) string { return stepPrinter{}.renamed(r) }
