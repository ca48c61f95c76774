package reports

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/diagram"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
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

// isLeftOver reports whether an operation only deletes an old object of a resource, left by an earlier replacement.
func (r *Resource) isLeftOver() bool { return r.isOld() && (r.Status == Planned || r.Status == Done) }

// isUnreached reports whether a failure has skipped a resource other than the stack, or it was not reached and might have changed.
func (r *Resource) isUnreached() bool {
	missed := r.Status == Skipped || r.Status == NotReached && (r.Operation != stages.OpSame || r.Reason == nil)
	return missed && !r.URN.IsRootStack()
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

// fate describes the actual or planned change of a resource, "created", "create", "creating failed", and its danger: "delete,
// protected".
func (r *Resource) fate(preview bool) string {
	text := r.become(preview)
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

func (r *Resource) become(preview bool) string {
	switch r.Status {
	case Failing:
		if r.Operation == stages.OpSame {
			return "failed"
		}
		if preview {
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
	text := display.Done(r.Operation, preview)
	if r.Certainty == Possible {
		text = "possibly " + text
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
