package reports

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/internal/text/printable"
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

// words returns the result for people.
func (r Result) words() string {
	if r == Canceled {
		return "cancelled"
	}
	return string(r)
}

// title returns the title of the report: "Preview of update of shop/dev: succeeded".
func (o Operation) title() string {
	what := cmp.Or(o.Kind, "operation")
	switch {
	case o.Preview && o.Kind == "":
		what = "preview"
	case o.Preview:
		what = "preview of " + what
	}
	if o.Stack != "" {
		what += " of " + display.CleanLine(o.Project) + "/" + display.CleanLine(o.Stack)
	}
	return strings.ToUpper(what[:1]) + what[1:] + ": " + o.Result.words()
}

// when formats the time and the duration of the operation.
func (o Operation) when() string {
	if o.Began.IsZero() {
		return ""
	}
	return o.Began.UTC().Format("2006-01-02 15:04:05 UTC") + ", " + took(o.Ended.Sub(o.Began))
}

// Summary are counts.
type Summary struct {
	// Changes counts resources by operation: "create", "same" and so on. A replacement counts when its new object is made. The summary of an event log
	// counts it before, even if that fails.
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
		text += ", with " + format.PluralThousands(r.Others, "resource", "resources") + " in it"
	}
	return text
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

// WriteJSON writes the document itself.
func WriteJSON(out io.Writer, d *Document) error {
	b := bufio.NewWriterSize(out, 1<<16)
	enc := json.NewEncoder(printable.JSONWriter{Out: b})
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return err
	}
	return b.Flush()
}
