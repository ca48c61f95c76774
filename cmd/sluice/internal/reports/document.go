package reports

import (
	"encoding/json"
	"time"

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

// Reason is the reason of the decision. The reasons of Causes are the next links of the chain that `sluice why` shows.
type Reason struct {
	Kind stages.ReasonKind `json:"kind"`
	// Text is the reason in words: "because `size` changed".
	Text       string   `json:"text,omitempty"`
	Properties []string `json:"properties,omitempty"`
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
