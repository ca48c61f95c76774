package display

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Clean returns a foreign text that is safe to show: without colours, and with visible escapes for characters that control terminals or
// the direction of writing.
func Clean(text string) string { return clean(text) }

// CleanLine returns a name, or another foreign text of one line, that is safe to show: all control characters are visible.
func CleanLine(text string) string { return cleanLine(text) }

// ShortType returns the short form of a type: "aws:s3:Bucket" for "aws:s3/bucket:Bucket".
func ShortType(t urn.Type) string { return shortType(t) }

// Done returns the word for the result of a step, "created", or in a preview, "create".
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

// Doing returns the word for a running step: "creating".
func Doing(op stages.Op) string { return wordsFor(op).running }

// Errored counts the resources with errors. After an abort, they are those whose operations were aborted.
func Errored(n int, aborted bool) string {
	if aborted {
		return fmt.Sprintf("%d aborted", n)
	}
	return fmt.Sprintf("%d errored", n)
}

// Remaining counts replaced resources whose old objects are still there, because the operation did not reach the end phase. The new objects of
// imported ones of them existed before.
func Remaining(n, imported int) string {
	made := "created"
	switch {
	case imported >= n:
		made = "imported"
	case imported > 0:
		made = "created or imported"
	}
	return format.Plural(n, "new one "+made+"; its old one is still there", "new ones "+made+"; their old ones are still there")
}

// Absent counts resources that are not part of the operation.
func Absent(n int) string { return fmt.Sprintf("%d not part of the operation", n) }

// Sign returns the sign of a step: "+", "+-".
func Sign(op stages.Op) string { return wordsFor(op).mark }

// ByDanger returns the kinds of changes, the most dangerous first.
func ByDanger() []stages.Op {
	ops := append(slices.Clone(summaryOrder[:]), stages.OpRefresh, stages.OpRead)
	slices.SortStableFunc(ops, func(a, b stages.Op) int { return a.Danger() - b.Danger() })
	return ops
}

// RootCause describes a root cause of an operation and its consequences, on one line.
func RootCause(c why.RootCause, l *why.Log) string {
	return newCausePrinter(l, resourceNames{}, style{}).text(c)
}

// IsSaidByResources reports whether the rows of the resources already show a root cause.
func IsSaidByResources(c why.RootCause) bool { return isSaidByRows(c) }

// Possibly describes why a change is only possible, and what happens otherwise; "" for one that is certain.
func Possibly(r stages.Reason) string {
	if r.Possible == nil {
		return ""
	}
	return possiblyText(r.Possible, r.Possibly())
}

// PossiblyOf formats how many of the counted changes are only possible: ", 2 of them possibly".
func PossiblyOf(possible, all int) string { return possiblyOf(possible, all) }

// Renamed names a resource that is probably a renamed one, and the difference: "aws:s3:Bucket archive, which was logs".
func Renamed(r renames.Rename) string { return renameText(stepPrinter{}, r) }
