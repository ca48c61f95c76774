package reports

import (
	"encoding/json"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Version is that of the form of a [Document]. It grows when something that a reader may rely on changes or goes; what is added leaves it.
const Version = 1

// Document is a report: what one preview or operation did. Times are UTC.
type Document struct {
	// Version is that of this form.
	Version   int       `json:"version"`
	Operation Operation `json:"operation"`
	Summary   Summary   `json:"summary"`
	// Failure says why the operation has failed, the cause first, what was not reached because of it, and what to do next. It has lines.
	Failure string `json:"failure,omitempty"`
	// RootCauses are what the operation follows from, the most dangerous first.
	RootCauses []RootCause `json:"rootCauses,omitempty"`
	// Renames are the deletes and creates of a preview that look like one resource.
	Renames []Rename `json:"renames,omitempty"`
	// Resources are in the order in which they are drawn: what is part of a component is behind it.
	Resources []Resource `json:"resources"`
	// Messages are those that are about no resource.
	Messages []Message   `json:"messages,omitempty"`
	Policies []Violation `json:"policies,omitempty"`
	// Outputs are the changes of the outputs of the stack, and those that stay.
	Outputs []Change `json:"outputs,omitempty"`
	// DeletionWaves are the waves in which a preview would delete, the first wave first.
	DeletionWaves []Waves `json:"deletionWaves,omitempty"`
	// CriticalPath is the chain of steps, each of which waited for the one before, that ended last.
	CriticalPath []PathStep `json:"criticalPath,omitempty"`
	// Omitted says what has been left out because there is too much of it.
	Omitted *Omitted `json:"omitted,omitempty"`
}

// Operation says what the report is of.
type Operation struct {
	// Kind is "update", "destroy", "refresh", "import" or "recovery"; for a preview what was previewed, "" if
	// that is not known.
	Kind    string `json:"kind"`
	Preview bool   `json:"preview"`
	Project string `json:"project,omitempty"`
	Stack   string `json:"stack,omitempty"`
	// Message is what the user has written about the operation.
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
	// Changes counts resources by operation, as the summary of an event log does: "create", "same" and so on.
	Changes map[stages.Op]int `json:"changes"`
	// Possible counts those of Changes that are only possible.
	Possible map[stages.Op]int `json:"possible,omitempty"`
	// Types counts the resources that change, by operation and type.
	Types map[stages.Op]map[urn.Type]int `json:"types,omitempty"`
	// Statuses counts the resources of the report by status.
	Statuses map[Status]int `json:"statuses,omitempty"`
	// MaybeCorrupt is true if the outcome of an operation on a resource is not known.
	MaybeCorrupt bool `json:"maybeCorrupt,omitempty"`
}

// RootCause is where chains of reasons end: one edit, option or event outside, with all that the operation does because of it.
type RootCause struct {
	// Text describes it and what follows from it: "`region` "eu" → "us" in the program (index.ts:14) replaces 30 (r0, r1, r2, …)".
	Text string `json:"text"`
	why.RootCause
}

// Rename is a resource that is to be deleted, and one that is to be created and looks like it.
type Rename struct {
	renames.Rename
	// Alias is what keeps the resource under its new name, to be pasted into the program, in its language. It is missing where the alias of what
	// contains the resource is enough.
	Alias string `json:"alias,omitempty"`
	// Others is how many other resources go on with that alias.
	Others int `json:"others,omitempty"`
}

// Certainty says whether a change that a preview predicts comes for certain.
type Certainty string

// The certainties.
const (
	Certain  Certainty = "certain"
	Possible Certainty = "possible" // it depends on a value that is not known yet
)

// Status is how far a resource has come.
type Status string

// The statuses.
const (
	Planned    Status = "planned"     // by a preview
	Done       Status = "done"        // all steps have succeeded
	Unchanged  Status = "unchanged"   // there was nothing to do
	Failing    Status = "failed"      // a step has failed, or an error was reported
	Unfinished Status = "unfinished"  // a step has begun, and its end is not known
	Skipped    Status = "skipped"     // something that it depends on has failed
	NotReached Status = "not-reached" // the operation ended before
	Kept       Status = "kept"        // the program has not declared it, and it stays because something failed
)

// Resource is one resource, whatever the number of steps.
type Resource struct {
	URN    urn.URN  `json:"urn"`
	Type   urn.Type `json:"type"`
	Name   string   `json:"name"`
	Parent urn.URN  `json:"parent,omitempty"`
	// Operation is that on the resource as a whole: a replacement is "replace".
	Operation stages.Op `json:"operation"`
	Status    Status    `json:"status"`
	// Certainty is that of what a preview predicts.
	Certainty Certainty `json:"certainty,omitempty"`
	// Component is true for a resource that only groups others.
	Component bool `json:"component,omitempty"`
	// Protected is true for a resource that is protected against being deleted.
	Protected bool `json:"protected,omitempty"`
	// DeleteFirst is true for a replacement that deletes the old object before there is a new one.
	DeleteFirst bool `json:"deleteFirst,omitempty"`
	// OldRemains is true for a replacement whose new object is there, and whose old one is still there too: it is deleted at the end, which has not
	// come.
	OldRemains bool `json:"oldRemains,omitempty"`
	// ID is what the provider calls it.
	ID string `json:"id,omitempty"`
	// Position is where the program declares the resource: "index.ts:14".
	Position string    `json:"position,omitempty"`
	Reason   *Reason   `json:"reason,omitempty"`
	Changes  []Change  `json:"changes,omitempty"`
	More     int       `json:"moreChanges,omitempty"` // how many changes were left out
	Began    time.Time `json:"began,omitzero"`        // of the first step
	Ended    time.Time `json:"ended,omitzero"`        // of the last step
	// Steps are those that a provider was asked for, in the order in which they began. A preview has none.
	Steps    []Step    `json:"steps,omitempty"`
	Error    string    `json:"error,omitempty"` // of the step that failed, unless a message says it
	Messages []Message `json:"messages,omitempty"`
	// DependsOn are the resources that it depends on directly, without its parent.
	DependsOn []urn.URN `json:"dependsOn,omitempty"`
	// FailedDependency is the failed resource because of which it was skipped.
	FailedDependency urn.URN `json:"failedDependency,omitempty"`
}

// Reason is why the operation on a resource was decided on. The reasons of Causes are the next links of the chain that `sluice why` shows.
type Reason struct {
	Kind stages.ReasonKind `json:"kind"`
	// Text is the reason in words: "because `size` changed".
	Text       string   `json:"text,omitempty"`
	Properties []string `json:"properties,omitempty"`
	// DecidedBy is who compared: "Diff", "Read", "engine" and so on.
	DecidedBy stages.Decider `json:"decidedBy,omitempty"`
	// Possible says why the change is only possible, and Possibly says it in words.
	Possible *stages.Possibility `json:"possible,omitempty"`
	Possibly string              `json:"possibly,omitempty"`
	// Causes are the resources whose own operations led to this one. Roots are what else did: where chains end.
	Causes []urn.URN  `json:"causes,omitempty"`
	Roots  []why.Root `json:"roots,omitempty"`
}

// Change is one property that changes. Values are JSON; a missing one is left out, a secret is the text "[secret]", an unknown one
// "[unknown]", and long ones are cut.
type Change struct {
	Path string `json:"path"`
	// Within is the place in the document that the text at Path holds, and Format that of the document, "JSON" or "YAML".
	Within string     `json:"within,omitempty"`
	Format string     `json:"format,omitempty"`
	Kind   ChangeKind `json:"kind"`
	// Replaces is true if the change needs a replacement.
	Replaces bool            `json:"forcesReplacement,omitempty"`
	Old      json.RawMessage `json:"old,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
	// Hidden is true if the program asks not to show the values.
	Hidden bool `json:"hidden,omitempty"`
	// Origin says where the new value comes from, and From which resources.
	Origin why.Origin `json:"origin,omitempty"`
	From   []urn.URN  `json:"from,omitempty"`
}

// place names the place of the change.
func (c Change) place() string {
	return why.Change{Path: c.Path, Format: c.Format, Within: c.Within}.Place()
}

// ChangeKind says what happens to a property.
type ChangeKind string

// The kinds of changes.
const (
	Added   ChangeKind = "add"
	Removed ChangeKind = "delete"
	Updated ChangeKind = "update"
	Same    ChangeKind = "same" // only of outputs
)

// Step is something that a provider was asked for.
type Step struct {
	Operation stages.Op `json:"operation"`
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"` // left out if the end is not known
	Failed    bool      `json:"failed,omitempty"`
}

// Message is a diagnostic.
type Message struct {
	Severity string `json:"severity"` // "debug", "info", "info#err", "warning" or "error"
	Text     string `json:"text"`
}

// Violation says that something violates a policy.
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
	// Root is the resource that is replaced, "" for what is deleted when the program has ended.
	Root  urn.URN     `json:"root,omitempty"`
	Waves [][]urn.URN `json:"waves"`
}

// PathStep is a step on the critical path.
type PathStep struct {
	URN       urn.URN   `json:"urn"`
	Operation stages.Op `json:"operation"`
	// Waited is how many seconds passed between the end of the step before and the beginning of this one: the time of programs, checks,
	// diffs and limits.
	Waited  float64 `json:"waitedSeconds"`
	Seconds float64 `json:"seconds"`
}

// Omitted counts what was left out.
type Omitted struct {
	// Details are the resources whose changes and messages were left out. The most dangerous operations have theirs.
	Details int `json:"details,omitempty"`
	// Messages are those about no resource.
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

// DefaultLimits are those of all reports.
func DefaultLimits() Limits {
	return Limits{Text: 2000, Elements: 200, Changes: 64, Message: 8 << 10, Messages: 200, Bytes: 24 << 20}
}
