package reports

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
)

// tally describes the summary of a document in the numbers and words of the terminal.
type tally struct {
	preview   bool
	result    Result
	summary   *Summary
	resources []Resource
}

func tallyOf(d *Document) *tally {
	return &tally{preview: d.Operation.Preview, result: d.Operation.Result, summary: &d.Summary, resources: d.Resources}
}

// isPartial reports whether the changes of a preview are unknown, because it has failed.
func (t *tally) isPartial() bool { return t.preview && t.result == Failed }

// changes returns the counts of the changes: troubles first, then the most dangerous operations.
func (t *tally) changes() (out []count) {
	s := t.summary
	if s.Errored > 0 {
		out = append(out, countOfTrouble(classFailed, display.Errored(s.Errored, t.result == Canceled)))
	}
	for _, trouble := range []struct {
		class, text string
		n           int
	}{
		{classFailed, "with an unknown end", s.Statuses[Unfinished]},
		{classMissed, "not reached", t.number((*Resource).isUnreached)},
		{classMissed, "kept because of the failure", s.Statuses[Kept]},
	} {
		if trouble.n > 0 {
			out = append(out, countOfTrouble(trouble.class, format.Thousands(trouble.n)+" "+trouble.text))
		}
	}
	if n := t.number((*Resource).isLeftOver); n > 0 {
		text := format.Thousands(n) + " old deleted"
		if t.preview {
			text = format.Thousands(n) + " old to delete"
		}
		out = append(out, countOfChange(stages.OpDeleteReplaced, text+" (replaced by an earlier operation)"))
	}
	if t.isPartial() {
		return out
	}
	for _, op := range slices.Concat(display.ByDanger(), []stages.Op{stages.OpReadReplacement}) {
		out = append(out, t.ofOperation(op)...)
	}
	return out
}

// unchanged counts the unchanged resources, "" if there are none.
func (t *tally) unchanged() string {
	var out []string
	if n := t.summary.Unchanged; n > 0 && !t.isPartial() {
		out = append(out, format.Thousands(n)+" unchanged"+display.RenamedOf(t.number((*Resource).isOnlyRenamed), n))
	}
	if n := t.summary.Absent; n > 0 && !t.isPartial() {
		out = append(out, display.Absent(n))
	}
	return strings.Join(out, ", ")
}

// ofOperation returns the counts of an operation. Replacements whose old objects are still there have their own.
func (t *tally) ofOperation(op stages.Op) (out []count) {
	n := t.summary.Changes[op]
	if op == stages.OpReplace && !t.preview {
		all := t.number(func(r *Resource) bool { return r.OldRemains })
		imported := t.number(func(r *Resource) bool { return r.OldRemains && r.Reason != nil && r.Reason.Kind == stages.ReasonImport })
		if remain := min(all, n); remain > 0 {
			out = append(out, count{classOf(op), strings.TrimSpace(display.Sign(stages.OpCreateReplacement)), display.Remaining(remain, imported)})
			n -= remain
		}
	}
	if n == 0 {
		return out
	}
	text := format.Thousands(n) + " " + display.Done(op, t.preview)
	if t.preview {
		text = format.Thousands(n) + " to " + display.Done(op, true) + display.PossiblyOf(t.summary.Possible[op], n)
	}
	return append(out, countOfChange(op, text))
}

// number returns how many resources there are of a kind.
func (t *tally) number(is func(*Resource) bool) int {
	n := 0
	for i := range t.resources {
		if is(&t.resources[i]) {
			n++
		}
	}
	return n
}

// count is the number of resources with the same operation, or in the same trouble.
type count struct {
	class string // of its appearance, as of a row
	sign  string
	text  string // "12 to delete"
}

func countOfChange(op stages.Op, text string) count {
	return count{classOf(op), strings.TrimSpace(display.Sign(op)), text}
}

func countOfTrouble(class, text string) count { return count{class, signs[class], text} }
