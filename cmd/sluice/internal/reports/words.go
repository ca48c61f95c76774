package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// title returns the title of the report: "Preview of update of shop/dev: succeeded".
func (d *Document) title() string {
	what := cmp.Or(d.Operation.Kind, "operation")
	switch {
	case d.Operation.Preview && d.Operation.Kind == "":
		what = "preview"
	case d.Operation.Preview:
		what = "preview of " + what
	}
	if d.Operation.Stack != "" {
		what += " of " + display.CleanLine(d.Operation.Project) + "/" + display.CleanLine(d.Operation.Stack)
	}
	return strings.ToUpper(what[:1]) + what[1:] + ": " + string(d.Operation.Result)
}

// when formats the time and the duration of the operation.
func (d *Document) when() string {
	o := d.Operation
	if o.Began.IsZero() {
		return ""
	}
	return o.Began.UTC().Format("2006-01-02 15:04:05 UTC") + ", " + took(o.Ended.Sub(o.Began))
}

func took(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatFloat(max(d, 0).Seconds(), 'f', 2, 64) + "s"
	}
	return d.Round(time.Second).String()
}

// fate describes the actual or planned change of a resource, "created", "create", "creating failed", and its danger: "delete,
// protected".
func (d *Document) fate(r *Resource) string {
	text := d.become(r)
	if r.Status == Unchanged {
		return text
	}
	if r.DeleteFirst {
		text += ", deleted first"
	}
	if r.OldRemains {
		text += ", the old one is still there"
	}
	if r.Protected {
		text += ", protected"
	}
	return text
}

func (d *Document) become(r *Resource) string {
	switch r.Status {
	case Failing:
		if r.Operation == stages.OpSame {
			return "failed"
		}
		if d.Operation.Preview {
			return display.Done(r.Operation, true) + " failed"
		}
		return display.Doing(r.Operation) + " failed"
	case Unfinished:
		return display.Doing(r.Operation) + " (the end is not known)"
	case Kept:
		return "kept because of the failure"
	case Skipped:
		if r.Operation == stages.OpSame { // the operation that it would have had is unknown
			return "skipped because " + display.CleanLine(r.FailedDependency.Name()) + " failed"
		}
		return display.Done(r.Operation, true) + " skipped because " + display.CleanLine(r.FailedDependency.Name()) + " failed"
	case NotReached:
		return display.Done(r.Operation, true) + " not reached"
	case Unchanged:
		return "unchanged"
	}
	text := display.Done(r.Operation, d.Operation.Preview)
	if r.Certainty == Possible {
		text = "possibly " + text
	}
	return text
}

// count is the number of resources with the same operation, or in the same trouble.
type count struct {
	Op   stages.Op // "" for trouble
	Text string    // "12 to delete"
	N    int
}

// troubles are the statuses of resources in trouble.
var troubles = [...]struct {
	status Status
	text   string
}{
	{Failing, "failed"}, {Unfinished, "with an unknown end"}, {Skipped, "skipped"}, {NotReached, "not reached"}, {Kept, "kept because of the failure"},
}

// tally returns the counts of the summary, troubles first, then the most dangerous operations, and the number of unchanged resources.
func (d *Document) tally() (changes []count, unchanged int) {
	for _, t := range troubles {
		if n := d.Summary.Statuses[t.status]; n > 0 {
			changes = append(changes, count{"", thousands(n) + " " + t.text, n})
		}
	}
	if n := d.leftOver(); n > 0 {
		text := thousands(n) + " old deleted"
		if d.Operation.Preview {
			text = thousands(n) + " old to delete"
		}
		changes = append(changes, count{stages.OpDeleteReplaced, text + " (replaced by an earlier operation)", n})
	}
	for _, op := range slices.Concat(display.ByDanger(), []stages.Op{stages.OpReadReplacement}) {
		n := d.Summary.Changes[op]
		if n == 0 {
			continue
		}
		text := thousands(n) + " " + display.Done(op, d.Operation.Preview)
		if d.Operation.Preview {
			text = thousands(n) + " to " + display.Done(op, true) + display.PossiblyOf(d.Summary.Possible[op], n)
		}
		if op == stages.OpReplace {
			text += d.remaining()
		}
		changes = append(changes, count{op, text, n})
	}
	return changes, d.Summary.Changes[stages.OpSame]
}

// leftOver returns how many resources only have an old object of an earlier operation deleted.
func (d *Document) leftOver() int {
	n := 0
	for i := range d.Resources {
		if r := &d.Resources[i]; r.isOld() && (r.Status == Planned || r.Status == Done) {
			n++
		}
	}
	return n
}

// isOld reports whether an operation concerns only an old object of a resource, left by an earlier replacement.
func (r *Resource) isOld() bool {
	return r.Operation == stages.OpDeleteReplaced || r.Operation == stages.OpDiscardReplaced
}

// remaining describes how many old objects of replacements are still there.
func (d *Document) remaining() string {
	n := 0
	for _, r := range d.Resources {
		if r.OldRemains {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return " (" + plural(n, "old one is", "old ones are") + " still there)"
}

// thousands formats a number: "12,345".
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// byDanger returns the changed resources, the most dangerous first.
func (d *Document) byDanger() []*Resource {
	var out []*Resource
	for i := range d.Resources {
		if d.Resources[i].Status != Unchanged {
			out = append(out, &d.Resources[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *Resource) int { return a.danger() - b.danger() })
	return out
}

// subject names a resource: its type and name.
func subject(u urn.URN) string {
	return display.ShortType(u.Type()) + " " + display.CleanLine(u.Name())
}

// why formats the reason of a resource on one line, "" if there is none.
func (r *Resource) why() string {
	if r.Reason == nil || r.Reason.Kind == stages.ReasonNew {
		return ""
	}
	text := display.CleanLine(r.Reason.Text)
	if r.Reason.Possibly != "" {
		text += "; only possible: " + display.CleanLine(r.Reason.Possibly)
	}
	return text
}

// maxRootCauses is how many root causes are listed for people.
const maxRootCauses = 100

// rootCauses returns the root causes that add something to the rows of the resources, and how many of them are left out.
func (d *Document) rootCauses(most int) (texts []string, more int) {
	for _, c := range d.RootCauses {
		if !display.IsSaidByResources(c.RootCause) {
			texts = append(texts, display.CleanLine(c.Text))
		}
	}
	shown := min(most, len(texts))
	return texts[:shown], len(texts) - shown
}

// aliases returns the renames that need an alias.
func (d *Document) aliases() []Rename {
	return slices.DeleteFunc(slices.Clone(d.Renames), func(r Rename) bool { return r.Alias == "" })
}

// text names the resources: "aws:s3:Bucket archive, which was logs, with 3 resources in it".
func (r Rename) text() string {
	text := display.Renamed(r.Rename)
	if r.Others > 0 {
		text += ", with " + plural(r.Others, "resource", "resources") + " in it"
	}
	return text
}

// untold are the messages about no resource that are not in Failure.
func (d *Document) untold() []Message {
	return slices.DeleteFunc(slices.Clone(d.Messages), func(m Message) bool {
		return m.Severity == stages.Error.String() && d.Failure != "" && (strings.Contains(d.Failure, m.Text) || m.Text == d.Operation.Kind+" failed" || m.Text == d.Operation.Kind+" canceled")
	})
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", thousands(n), many)
}

// typeCount is the number of resources of one type.
type typeCount struct {
	typ urn.Type
	n   int
}

// sortedCounts returns counts of types, the largest first.
func sortedCounts(m map[urn.Type]int) []typeCount {
	out := make([]typeCount, 0, len(m))
	for typ, n := range m {
		out = append(out, typeCount{typ, n})
	}
	slices.SortFunc(out, func(a, b typeCount) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.typ, b.typ)) })
	return out
}
