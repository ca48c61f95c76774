package reports

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/diagram"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Version is the version of the format of a [Document]. An incompatible change increases it, an addition does not.
const Version = 1

// Document is a report about one preview or operation. Times are UTC.
type Document struct {
	// Version is the version of the format.
	Version   int       `json:"version"`
	Operation Operation `json:"operation"`
	Summary   Summary   `json:"summary"`
	// Failure describes, in lines, why the operation has failed: the cause, the resources that were not reached because of it, and the next step.
	Failure string `json:"failure,omitempty"`
	// RootCauses are the root causes of the operation, the most dangerous first.
	RootCauses []RootCause `json:"rootCauses,omitempty"`
	// Renames are the pairs of a delete and a create in a preview that are probably one resource.
	Renames []Rename `json:"renames,omitempty"`
	// Resources are in the order of drawing: components before their children.
	Resources []Resource `json:"resources"`
	// Messages are the messages about no resource.
	Messages []Message   `json:"messages,omitempty"`
	Policies []Violation `json:"policies,omitempty"`
	// Outputs are the outputs of the stack, changed and unchanged.
	Outputs []Change `json:"outputs,omitempty"`
	// DeletionWaves are the waves of deletes of a preview, the first wave first.
	DeletionWaves []Waves `json:"deletionWaves,omitempty"`
	// CriticalPath is the chain of steps that ended last. Each waited for the one before.
	CriticalPath []PathStep `json:"criticalPath,omitempty"`
	// Omitted counts what was left out for lack of room.
	Omitted *Omitted `json:"omitted,omitempty"`
}

func (d *Document) row(r *Resource, at map[urn.URN]int, began time.Time) pageRow {
	row := pageRow{
		Name: display.CleanLine(r.Name), Type: display.ShortType(r.Type), Parent: -1, Class: classOf(r.Operation), Danger: r.danger(),
		Sign: strings.TrimSpace(display.Sign(r.Operation)), Fate: d.fate(r), Unchanged: r.Status == Unchanged && !r.isOnlyRenamed(), Full: display.CleanLine(string(r.URN)),
		ID: display.CleanLine(r.ID), Position: display.CleanLine(r.Position),
	}
	if i, known := at[r.Parent]; known {
		row.Parent = i
	}
	if r.Status == Unchanged {
		row.Class, row.Sign = "same", ""
	}
	if t, is := troubles[r.Status]; is {
		row.Class = t.class
	}
	if r.Reason != nil {
		row.Why, row.Causes = cmp.Or(r.why(), display.CleanLine(r.Reason.Text)), numbers(r.Reason.Causes, at)
	}
	row.Needs = numbers(r.DependsOn, at)
	for _, c := range r.Changes {
		for _, l := range diffLines(c) {
			row.Lines = append(row.Lines, [2]string{l.sign, l.text})
		}
	}
	if r.More > 0 {
		row.Lines = append(row.Lines, [2]string{" ", plural(r.More, "more change", "more changes")})
	}
	if r.Error != "" {
		row.Messages = append(row.Messages, [2]string{"error", r.Error})
	}
	for _, m := range r.Messages {
		row.Messages = append(row.Messages, [2]string{m.Severity, m.Text})
	}
	for _, s := range r.Steps {
		ended := s.Ended
		if ended.IsZero() {
			ended = d.Operation.Ended
		}
		row.Steps = append(row.Steps, pageBar{
			display.Doing(s.Operation), milliseconds(s.Began.Sub(began)), milliseconds(ended.Sub(began)), s.Failed, s.Ended.IsZero(),
		})
	}
	return row
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)) / float64(time.Millisecond)
}

func numbers(us []urn.URN, at map[urn.URN]int) []int {
	var out []int
	for _, u := range us {
		if i, known := at[u]; known {
			out = append(out, i)
		}
	}
	return out
}

// Limits on the drawing of a report.
const (
	maxWhole  = 40               // resources up to which all are drawn; a larger graph has the changes with their neighbours, unless it is collapsed
	maxBoxes  = 100              // resources are merged down to this number
	maxArrows = 600              // resources are merged until there are at most this many
	maxLayout = 20 * time.Second // for a graph that is slow to lay out all the same
)

// draw draws the changes with their dependencies. Without a drawing, the report is still complete.
func (d *Document) draw(ctx context.Context) picture {
	rs := make([]diagram.Resource, 0, len(d.Resources))
	changes := false
	for i := range d.Resources {
		r := d.Resources[i].drawn()
		changes = changes || (r.Change != "" || r.Trouble != "") && !r.URN.IsRootStack()
		rs = append(rs, r)
	}
	if !changes {
		return picture{}
	}
	whole := diagram.OfOperation(d.Operation.Project, d.Operation.Stack, rs)
	shown, out := whole, picture{}
	expand := !whole.IsLarge()
	if len(whole.Nodes) > maxWhole && expand {
		shown = whole.Changed()
	}
	drawing := shown.Draw(diagram.Options{Expand: expand, Limit: maxBoxes})
	for limit := maxBoxes / 2; drawing.Arrows() > maxArrows && limit > 0; limit /= 2 {
		drawing = shown.Draw(diagram.Options{Expand: expand, Limit: limit})
	}
	out.Note = noteOf(whole, shown, drawing)
	ctx, cancel := context.WithTimeout(ctx, maxLayout)
	defer cancel()
	svg, err := drawing.SVG(ctx)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("laying it out takes more than %s", maxLayout)
		}
		out.Note = fmt.Sprintf("The graph is not drawn: %v.", err)
		return out
	}
	out.SVG = inline(svg)
	at := make(map[urn.URN]int, len(d.Resources))
	for i := range d.Resources {
		at[d.Resources[i].URN] = i
	}
	for _, n := range drawing.Heads() {
		out.Heads = append(out.Heads, at[shown.Nodes[n].URN])
	}
	return out
}

// noteOf describes the part of the report that a drawing leaves out.
func noteOf(whole, shown *diagram.Diagram, drawing *diagram.Drawing) string {
	note := ""
	if hidden := len(whole.Nodes) - len(shown.Nodes); hidden > 0 {
		note = plural(hidden, "resource that neither changes nor is next to a change is", "resources that neither change nor are next to a change are") + " not drawn. "
	}
	switch {
	case drawing.Merged != "" && drawing.Open != "":
		note += fmt.Sprintf("Resources of the same %s are one box, except %s.", drawing.Merged, drawing.Open)
	case drawing.Merged != "":
		note += fmt.Sprintf("Resources of the same %s are one box.", drawing.Merged)
	case drawing.Collapsed:
		note += "A component is one box."
	}
	return note
}

// inline returns an image as a part of a page: without the declarations of a file.
func inline(svg []byte) string {
	if i := bytes.Index(svg, []byte("<svg")); i >= 0 {
		svg = svg[i:]
	}
	for _, name := range []string{` xmlns="http://www.w3.org/2000/svg"`, ` xmlns:xlink="http://www.w3.org/1999/xlink"`} {
		svg = bytes.Replace(svg, []byte(name), nil, 1)
	}
	return string(svg) // Graphviz has escaped the texts
}

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
	return strings.ToUpper(what[:1]) + what[1:] + ": " + d.Operation.Result.words()
}

// when formats the time and the duration of the operation.
func (d *Document) when() string {
	o := d.Operation
	if o.Began.IsZero() {
		return ""
	}
	return o.Began.UTC().Format("2006-01-02 15:04:05 UTC") + ", " + took(o.Ended.Sub(o.Began))
}

// fate describes the actual or planned change of a resource, "created", "create", "creating failed", and its danger: "delete,
// protected".
func (d *Document) fate(r *Resource) string {
	text := d.become(r)
	switch {
	case r.isOnlyRenamed():
		return display.RenamedFrom(r.OldURN, r.URN)
	case r.Status == Unchanged:
		return text
	case r.OldURN != "":
		text += ", " + display.RenamedFrom(r.OldURN, r.URN)
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
		text := "not reached because the program failed"
		if r.FailedDependency != "" {
			text = "not reached because " + display.CleanLine(r.FailedDependency.Name()) + " failed"
		}
		if r.Operation == stages.OpSame { // the operation that it would have had is unknown
			return text
		}
		return display.Done(r.Operation, true) + " " + text
	case NotReached:
		if r.Operation == stages.OpSame {
			return "not reached"
		}
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

// tally returns the counts of the summary, with the numbers and words of the terminal: troubles first, then the most dangerous operations, and the
// unchanged resources, "" if there are none.
func (d *Document) tally() (changes []count, unchanged string) {
	s := d.Summary
	if s.Errored > 0 {
		changes = append(changes, countOfTrouble(classFailed, display.Errored(s.Errored, d.Operation.Result == Canceled)))
	}
	for _, t := range []struct {
		text string
		n    int
	}{
		{"with an unknown end", s.Statuses[Unfinished]}, {"not reached", d.unreached()}, {"kept because of the failure", s.Statuses[Kept]},
	} {
		class := classMissed
		if t.text == "with an unknown end" {
			class = classFailed
		}
		if t.n > 0 {
			changes = append(changes, countOfTrouble(class, thousands(t.n)+" "+t.text))
		}
	}
	if n := d.leftOver(); n > 0 {
		text := thousands(n) + " old deleted"
		if d.Operation.Preview {
			text = thousands(n) + " old to delete"
		}
		changes = append(changes, countOfChange(stages.OpDeleteReplaced, text+" (replaced by an earlier operation)"))
	}
	if d.Operation.Preview && d.Operation.Result == Failed {
		return changes, "" // the remaining changes are unknown
	}
	for _, op := range slices.Concat(display.ByDanger(), []stages.Op{stages.OpReadReplacement}) {
		changes = append(changes, d.countsOf(op)...)
	}
	var rest []string
	if s.Unchanged > 0 {
		rest = append(rest, thousands(s.Unchanged)+" unchanged"+display.RenamedOf(d.renamed(), s.Unchanged))
	}
	if s.Absent > 0 {
		rest = append(rest, display.Absent(s.Absent))
	}
	return changes, strings.Join(rest, ", ")
}

// countsOf returns the counts of an operation. Replacements whose old objects are still there have their own.
func (d *Document) countsOf(op stages.Op) (out []count) {
	n := d.Summary.Changes[op]
	if op == stages.OpReplace && !d.Operation.Preview {
		all, imported := d.remaining()
		if remain := min(all, n); remain > 0 {
			out = append(out, count{classOf(op), strings.TrimSpace(display.Sign(stages.OpCreateReplacement)), display.Remaining(remain, imported)})
			n -= remain
		}
	}
	if n == 0 {
		return out
	}
	text := thousands(n) + " " + display.Done(op, d.Operation.Preview)
	if d.Operation.Preview {
		text = thousands(n) + " to " + display.Done(op, true) + display.PossiblyOf(d.Summary.Possible[op], n)
	}
	return append(out, countOfChange(op, text))
}

// renamed returns how many resources have another name than before, and are unchanged else.
func (d *Document) renamed() int {
	n := 0
	for i := range d.Resources {
		if d.Resources[i].isOnlyRenamed() {
			n++
		}
	}
	return n
}

// unreached returns how many resources a failure has skipped, and how many others were not reached and might have changed, without the stack.
func (d *Document) unreached() int {
	n := 0
	for i := range d.Resources {
		r := &d.Resources[i]
		missed := r.Status == Skipped || r.Status == NotReached && (r.Operation != stages.OpSame || r.Reason == nil)
		if missed && !r.URN.IsRootStack() {
			n++
		}
	}
	return n
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

// remaining returns how many old objects of replacements are still there, and how many of these belong to objects that were imported.
func (d *Document) remaining() (all, imported int) {
	for i := range d.Resources {
		switch r := &d.Resources[i]; {
		case !r.OldRemains:
		case r.Reason != nil && r.Reason.Kind == stages.ReasonImport:
			all, imported = all+1, imported+1
		default:
			all++
		}
	}
	return all, imported
}

// byDanger returns the changed resources, the most dangerous first.
func (d *Document) byDanger() []*Resource {
	var out []*Resource
	for i := range d.Resources {
		if d.Resources[i].Status != Unchanged || d.Resources[i].isOnlyRenamed() {
			out = append(out, &d.Resources[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *Resource) int { return a.danger() - b.danger() })
	return out
}

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

// untold are the messages about no resource that are not in Failure.
func (d *Document) untold() []Message {
	failure := oneLine(d.Failure)
	return slices.DeleteFunc(slices.Clone(d.Messages), func(m Message) bool {
		return m.Severity == stages.Error.String() && d.Failure != "" && (strings.Contains(failure, oneLine(m.Text)) || m.Text == d.Operation.Kind+" failed" || m.Text == d.Operation.Kind+" cancelled")
	})
}

// oneLine returns a text without its line ends and indentation.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Operation describes the subject of the report.
type Operation struct {
	// Kind is "update", "destroy", "refresh", "import" or "recovery". For a preview it is the kind of the previewed operation, "" if that is
	// unknown.
	Kind    string `json:"kind"`
	Preview bool   `json:"preview"`
	Project string `json:"project,omitempty"`
	Stack   string `json:"stack,omitempty"`
	// Message is the user's message about the operation.
	Message string    `json:"message,omitempty"`
	Began   time.Time `json:"began,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Result  Result    `json:"result"`
	// Sluice is the version of sluice that has written the report.
	Sluice string `json:"sluice"`
}

// Result is how an operation ended.
type Result string

// The results. An operation that was interrupted has no end that was recorded: its process was left or killed.
const (
	Succeeded   Result = "succeeded"
	Failed      Result = "failed"
	Canceled    Result = "canceled"
	Interrupted Result = "interrupted"
)

// Summary are counts.
type Summary struct {
	// Changes counts resources by operation, as in the summary of an event log: "create", "same" and so on.
	Changes map[stages.Op]int `json:"changes"`
	// Possible counts those of Changes that are only possible.
	Possible map[stages.Op]int `json:"possible,omitempty"`
	// Types counts the resources that change, by operation and type.
	Types map[stages.Op]map[urn.Type]int `json:"types,omitempty"`
	// Errored counts the resources with errors. It is 1 if only the operation itself has one.
	Errored int `json:"errored,omitempty"`
	// Unchanged counts the resources that exist and do not change. Unlike "same" of Changes, it leaves out those that are deleted later.
	Unchanged int `json:"unchanged,omitempty"`
	// Absent counts the resources that the program has registered and that are not part of the operation.
	Absent int `json:"absent,omitempty"`
	// Statuses counts the resources of the report by status.
	Statuses map[Status]int `json:"statuses,omitempty"`
	// MaybeCorrupt is true if the outcome of an operation on a resource is unknown.
	MaybeCorrupt bool `json:"maybeCorrupt,omitempty"`
}

// RootCause is the end of chains of reasons: one edit, option or external event, with all of its consequences.
type RootCause struct {
	// Text describes the root cause and its consequences: "`region` "eu" → "us" in the program (index.ts:14) replaces 30 (r0, r1, r2, …)".
	Text string `json:"text"`
	why.RootCause
}

// Rename is a pair of a resource to delete and one to create that are probably the same.
type Rename struct {
	renames.Rename
	// Alias keeps the resource under its new name; it can be pasted into the program. It is missing if the alias of a resource that contains this
	// one is enough.
	Alias string `json:"alias,omitempty"`
	// Others is the number of other resources that the alias keeps.
	Others int `json:"others,omitempty"`
}

// text names the resources: "aws:s3:Bucket archive, which was logs, with 3 resources in it".
func (r Rename) text() string {
	text := display.Renamed(r.Rename)
	if r.Others > 0 {
		text += ", with " + plural(r.Others, "resource", "resources") + " in it"
	}
	return text
}

// Certainty is the certainty of a predicted change.
type Certainty string

// The certainties.
const (
	Certain  Certainty = "certain"
	Possible Certainty = "possible" // it depends on an unknown value
)

// Status is the status of a resource.
type Status string

// The statuses.
const (
	Planned    Status = "planned"     // by a preview
	Done       Status = "done"        // all steps have succeeded
	Unchanged  Status = "unchanged"   // there were no steps
	Failing    Status = "failed"      // a step has failed, or an error was reported
	Unfinished Status = "unfinished"  // a step has begun, and its end is not known
	Skipped    Status = "skipped"     // a dependency has failed
	NotReached Status = "not-reached" // the operation ended before
	Kept       Status = "kept"        // the program has not declared it, and it stays because something failed
)

// Resource is one resource, whatever the number of steps.
type Resource struct {
	URN    urn.URN  `json:"urn"`
	Type   urn.Type `json:"type"`
	Name   string   `json:"name"`
	Parent urn.URN  `json:"parent,omitempty"`
	// OldURN is the recorded URN of a resource that the program has renamed with an alias.
	OldURN urn.URN `json:"oldUrn,omitempty"`
	// Operation is the operation on the resource as a whole: a replacement is "replace".
	Operation stages.Op `json:"operation"`
	Status    Status    `json:"status"`
	// Certainty is the certainty of a predicted change.
	Certainty Certainty `json:"certainty,omitempty"`
	// Component is true for a resource that only groups others.
	Component bool `json:"component,omitempty"`
	// Protected is true for a resource that is protected against being deleted.
	Protected bool `json:"protected,omitempty"`
	// DeleteFirst is true for a replacement that deletes the old object before it creates the new one.
	DeleteFirst bool `json:"deleteFirst,omitempty"`
	// OldRemains is true for a replacement whose old object is still there beside the new one, because the operation did not reach the end phase.
	OldRemains bool `json:"oldRemains,omitempty"`
	// ID is the provider's ID of the object.
	ID string `json:"id,omitempty"`
	// Position is the place of the declaration in the program: "index.ts:14".
	Position string    `json:"position,omitempty"`
	Reason   *Reason   `json:"reason,omitempty"`
	Changes  []Change  `json:"changes,omitempty"`
	More     int       `json:"moreChanges,omitempty"` // the number of changes left out
	Began    time.Time `json:"began,omitzero"`        // of the first step
	Ended    time.Time `json:"ended,omitzero"`        // of the last step
	// Steps are the provider calls, in the order in which they began. A preview has none.
	Steps    []Step    `json:"steps,omitempty"`
	Error    string    `json:"error,omitempty"` // of the step that failed, unless a message contains it
	Messages []Message `json:"messages,omitempty"`
	// DependsOn are the direct dependencies, without the parent.
	DependsOn []urn.URN `json:"dependsOn,omitempty"`
	// FailedDependency is the failed resource because of which this one was skipped.
	FailedDependency urn.URN `json:"failedDependency,omitempty"`
}

// drawn returns a resource in the form of a drawing.
func (r *Resource) drawn() diagram.Resource {
	out := diagram.Resource{
		URN: r.URN, Parent: r.Parent, Dependencies: r.DependsOn, Component: r.Component, Protected: r.Protected, Uncertain: r.Certainty == Possible,
	}
	switch {
	case r.isOld():
		out.Change, out.Old = diagram.Delete, true
	case r.Status != Unchanged:
		out.Change = diagram.ChangeOf(string(r.Operation))
	}
	out.Trouble = troubles[r.Status].drawn
	if d := r.FailedDependency; d != "" && !slices.Contains(r.DependsOn, d) { // the other dependencies are unknown
		out.Dependencies = append(slices.Clone(r.DependsOn), d)
	}
	return out
}

// isOnlyRenamed reports whether a resource has another name than before, and is unchanged else.
func (r *Resource) isOnlyRenamed() bool { return r.Status == Unchanged && r.OldURN != "" }

// isOld reports whether an operation concerns only an old object of a resource, left by an earlier replacement.
func (r *Resource) isOld() bool {
	return r.Operation == stages.OpDeleteReplaced || r.Operation == stages.OpDiscardReplaced
}

// why formats the reason of a resource on one line, "" if there is none.
func (r *Resource) why() string {
	if r.Reason == nil || r.Reason.Kind == stages.ReasonNew && r.Reason.Departure == nil {
		return ""
	}
	text := display.CleanLine(r.Reason.Text)
	if r.Reason.Possibly != "" {
		text += "; only possible: " + display.CleanLine(r.Reason.Possibly)
	}
	return text
}

// danger returns the rank of a resource: failures come first, then dangerous changes, unchanged resources last.
func (r *Resource) danger() int {
	switch {
	case r.Status == Failing, r.Status == Unfinished:
		return -1
	case r.Status == Unchanged:
		return stages.LeastDanger + 1
	}
	return r.Operation.Danger()
}

// Reason is the reason of the decision. The reasons of Causes are the next links of the chain that `sluice why` shows.
type Reason struct {
	Kind stages.ReasonKind `json:"kind"`
	// Text is the reason in words: "because `size` changed".
	Text       string   `json:"text,omitempty"`
	Properties []string `json:"properties,omitempty"`
	// Departure is how the resource left the state before the operation, if the reason is that.
	Departure *why.Departure `json:"departure,omitempty"`
	// DecidedBy is the comparison that decided: "Diff", "Read", "engine" and so on.
	DecidedBy stages.Decider `json:"decidedBy,omitempty"`
	// Possible is the reason why the change is only possible, and Possibly is its text.
	Possible *stages.Possibility `json:"possible,omitempty"`
	Possibly string              `json:"possibly,omitempty"`
	// Causes are the resources whose own operations led to this one. Roots are the other causes, where chains end.
	Causes []urn.URN  `json:"causes,omitempty"`
	Roots  []why.Root `json:"roots,omitempty"`
}

// Change is one property that changes. Values are JSON; a missing one is left out, a secret is the text "[secret]", an unknown one
// "[unknown]", and long ones are cut.
type Change struct {
	Path string `json:"path"`
	// Within is the path in the document that the text at Path contains, and Format that of the document, "JSON" or "YAML".
	Within string     `json:"within,omitempty"`
	Format string     `json:"format,omitempty"`
	Kind   ChangeKind `json:"kind"`
	// Replaces is true if the change requires a replacement.
	Replaces bool            `json:"forcesReplacement,omitempty"`
	Old      json.RawMessage `json:"old,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
	// Hidden is true if the program requests not to show the values.
	Hidden bool `json:"hidden,omitempty"`
	// Origin is the origin of the new value, and From are the resources that it comes from.
	Origin why.Origin `json:"origin,omitempty"`
	From   []urn.URN  `json:"from,omitempty"`
}

// place names the place of the change.
func (c Change) place() string {
	return why.Change{Path: c.Path, Format: c.Format, Within: c.Within}.Place()
}

// ChangeKind is the kind of a change.
type ChangeKind string

// The kinds of changes.
const (
	Added   ChangeKind = "add"
	Removed ChangeKind = "delete"
	Updated ChangeKind = "update"
	Same    ChangeKind = "same" // only of outputs
)

// Step is a provider call.
type Step struct {
	Operation stages.Op `json:"operation"`
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"` // left out if the end is unknown
	Failed    bool      `json:"failed,omitempty"`
}

// Message is a diagnostic.
type Message struct {
	Severity string `json:"severity"` // "debug", "info", "info#err", "warning" or "error"
	Text     string `json:"text"`
}

// Violation is a violation of a policy.
type Violation struct {
	URN      urn.URN `json:"urn,omitempty"`
	Pack     string  `json:"pack"`
	Version  string  `json:"version,omitempty"`
	Policy   string  `json:"policy"`
	Level    string  `json:"level"`
	Severity string  `json:"severity,omitempty"`
	Text     string  `json:"text"`
}

// Waves are the waves of one deletion.
type Waves struct {
	// Root is the replaced resource, "" for the deletes of the end phase.
	Root  urn.URN     `json:"root,omitempty"`
	Waves [][]urn.URN `json:"waves"`
}

// PathStep is a step on the critical path.
type PathStep struct {
	URN       urn.URN   `json:"urn"`
	Operation stages.Op `json:"operation"`
	// Waited is the number of seconds between the end of the step before and the beginning of this one: the time of programs, checks, diffs and
	// limits.
	Waited  float64 `json:"waitedSeconds"`
	Seconds float64 `json:"seconds"`
}

// Omitted counts what was left out.
type Omitted struct {
	// Details is the number of resources whose changes and messages were left out. The most dangerous operations keep theirs.
	Details int `json:"details,omitempty"`
	// Messages is the number of messages about no resource that were left out.
	Messages int `json:"messages,omitempty"`
}

// Limits bound the size of a document.
type Limits struct {
	Text     int // characters of one value
	Elements int // elements of one value
	Changes  int // of one resource
	Message  int // bytes of one message
	Messages int // about no resource, or about one
	Bytes    int // of all changes and messages
}

// DefaultLimits returns the limits of all reports.
func DefaultLimits() Limits {
	return Limits{Text: 2000, Elements: 200, Changes: 64, Message: 8 << 10, Messages: 200, Bytes: 24 << 20}
}

// words returns the result for people.
func (r Result) words() string {
	if r == Canceled {
		return "cancelled"
	}
	return string(r)
}
