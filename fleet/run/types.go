package run

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/spec"
)

// The names of workflows, activities, signals and queries.
const (
	FleetWorkflow   = "fleet"
	StackWorkflow   = "stack"
	SurveyActivity  = "survey"
	PerformActivity = "perform"
	ApproveSignal   = "approve" // of a run, with a [Decision]; of a stack in runs of earlier versions, with an [Approval]
	AbortSignal     = "abort"   // of a stack, with an [Abort]: the second interrupt
	ViewQuery       = "view"    // of a run: a [View]
	AbortQuery      = "abort"   // of a stack: whether there was an [AbortSignal]
	WaitsQuery      = "waits"   // of a stack: the limit that it waits for, "" if for none
	GoSignal        = "go"      // to a run, with a [Go]
	LimitWorkflow   = "limit"
	AskActivity     = "ask"     // requests a place from a limit; it is local
	EndedActivity   = "ended"   // returns the [Claim]s of workflows that have ended; it is local
	AskSignal       = "ask"     // to a limit, with a [Claim]
	GrantSignal     = "grant"   // to a stack, with [Claim.grant]
	ReleaseSignal   = "release" // to a limit, with a [Released]
	LimitQuery      = "limit"   // of a limit: its [Claims]
)

// Operation is the operation of a run on each stack.
type Operation string

// The operations.
const (
	Preview Operation = "preview"
	Up      Operation = "up"
	Refresh Operation = "refresh"
	Drift   Operation = "drift"
	Destroy Operation = "destroy"
)

// Changes reports whether resources are changed. Refresh changes only their states.
func (o Operation) Changes() bool { return o == Up || o == Destroy }

// Reversed reports whether dependents come first.
func (o Operation) Reversed() bool { return o == Destroy }

// Request describes a run.
type Request struct {
	Fleet       string         `json:"fleet"`
	Operation   Operation      `json:"operation"`
	Stacks      []spec.Stack   `json:"stacks"`
	Others      []spec.Stack   `json:"others,omitempty"` // other stacks of the fleet, which are only read
	Concurrency int            `json:"concurrency"`
	Limits      map[string]int `json:"limits,omitempty"`
	Options     Options        `json:"options"`
	By          string         `json:"by,omitempty"` // who began it
	Carried     *Carried       `json:"carried,omitempty"`
	// Bound is true if the run begins only after a [Go] or by a schedule. It is false only in histories of earlier versions, whose sealed data can no
	// longer be opened.
	Bound    bool   `json:"bound,omitempty"`
	Schedule string `json:"schedule,omitempty"` // the name of the schedule that begins it
}

// SearchAttributes returns the search attributes of a run.
func (r Request) SearchAttributes() temporal.SearchAttributes {
	return temporal.NewSearchAttributes(fleetAttribute.ValueSet(r.Fleet), operationAttribute.ValueSet(string(r.Operation)))
}

// Go confirms that a run begins. It names the run as the server does, so that a sealed text of an earlier run does not match.
type Go struct {
	Attempt string `json:"attempt"`
}

// Abort is the second interrupt of the operation on a stack.
type Abort struct {
	Attempt string `json:"attempt"` // the stack's workflow, as the server names it
}

// Options are flags of a run.
type Options struct {
	FailFast         bool   `json:"failFast,omitempty"`         // nothing begins after a failure
	ContinueOnError  bool   `json:"continueOnError,omitempty"`  // within each stack
	Force            bool   `json:"force,omitempty"`            // no stack is skipped because it is unchanged
	AssumeNotCreated bool   `json:"assumeNotCreated,omitempty"` // of interrupted creates without an object
	Since            string `json:"since,omitempty"`            // of drift
	Message          string `json:"message,omitempty"`          // for the history
	// Each is the number of stacks after which a workflow continues as a new one; 0 leaves that to the server.
	Each int `json:"each,omitempty"`
}

// Carried is the state that a run passes to its next workflow.
type Carried struct {
	Began    time.Time              `json:"began"`
	Known    map[string]order.Known `json:"known"`
	Outputs  map[string]string      `json:"outputs"`
	Same     map[string]string      `json:"same,omitempty"`
	Outcomes map[string]Outcome     `json:"outcomes"`
	Earlier  map[string]Outcome     `json:"earlier,omitempty"`
	Asked    map[string]time.Time   `json:"asked,omitempty"` // the time since which stacks wait for an approval
	Approved map[string]*Approval   `json:"approved,omitempty"`
	Shown    map[string]Shown       `json:"shown,omitempty"`
	Attempt  string                 `json:"attempt,omitempty"` // the first workflow of the run, as the server names it
}

// Shown is a preview of the operation on a stack, to which an approval refers.
type Shown struct {
	Plan    string         `json:"plan"` // its digest
	Changes map[string]int `json:"changes,omitempty"`
	Why     string         `json:"why,omitempty"` // the reason for showing it again
}

// Survey requests the recorded properties of stacks.
type Survey struct {
	Stacks   []spec.Stack `json:"stacks"`
	Attempt  string       `json:"attempt,omitempty"` // the requesting workflow, as the server names it
	Schedule string       `json:"schedule,omitempty"`
	Does     Operation    `json:"does,omitempty"` // the operation that follows
}

// Surveyed has the recorded properties of a stack.
type Surveyed struct {
	order.Known
	Outputs string `json:"outputs,omitempty"` // the digest of its outputs
	Problem string `json:"problem,omitempty"` // the reason why it could not be read
	// Same is true if nothing except its inputs can have changed since its last update. Inputs is the digest of its inputs then.
	Same    bool   `json:"same,omitempty"`
	Inputs  string `json:"inputs,omitempty"`
	Attempt string `json:"attempt,omitempty"` // Attempt of the [Survey]
}

// InputsDigest returns the digest of a stack's inputs: the references, sorted, and the digests of their outputs. It is "" if one is unknown.
func InputsDigest(references []string, outputs func(reference string) string) string {
	h := sha256.New()
	for _, r := range references {
		o := outputs(r)
		if o == "" {
			return ""
		}
		fmt.Fprintf(h, "%d:%s%d:%s", len(r), r, len(o), o)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// NothingNew is the reason why a stack is left unchanged.
const NothingNew = "its program, its settings and what it reads have not changed since its last update"

// StackRequest describes the operation on one stack.
type StackRequest struct {
	Run       string     `json:"run"`
	Fleet     string     `json:"fleet"`
	Operation Operation  `json:"operation"`
	Stack     spec.Stack `json:"stack"`
	Options   Options    `json:"options"`
	By        string     `json:"by,omitempty"`
	// Limits are the numbers of stacks that run at once, by limit. Requests of earlier versions have none.
	Limits map[string]int `json:"limits,omitempty"`
	// Inputs are the digests of the outputs that the stack reads, by reference. Planned are the changed outputs that previews of other stacks
	// predict.
	Inputs  map[string]string  `json:"inputs,omitempty"`
	Planned map[string]Planned `json:"planned,omitempty"`
	// Approval is the decision about the operation.
	Approval *Approval `json:"approval,omitempty"`
	// Look previews the operation. The outcome has the plan.
	Look bool `json:"look,omitempty"`
	// Bound is that of the [Request]. Parent is the workflow of the run and Attempt that of the stack, as the server names them.
	Bound    bool      `json:"bound,omitempty"`
	Parent   string    `json:"parent,omitempty"`
	Attempt  string    `json:"attempt,omitempty"`
	Schedule string    `json:"schedule,omitempty"`
	Asked    time.Time `json:"asked,omitzero"` // when the activity was scheduled
}

// lacksApproval reports whether the operation needs an approval, and there is no answer yet.
func (r StackRequest) lacksApproval() bool {
	return r.Approval == nil && slices.Contains(r.Stack.Approve, string(r.Operation))
}

// Planned are the changed outputs that a preview predicts, as `sluice preview --save-outputs` writes them. It contains no secrets; they count as
// unknown.
type Planned struct {
	Set     map[string]json.RawMessage `json:"set,omitempty"`
	Removed []string                   `json:"removed,omitempty"`
}

// IsEmpty reports whether nothing changes.
func (p Planned) IsEmpty() bool { return len(p.Set) == 0 && len(p.Removed) == 0 }

// Status is the status of a stack.
type Status string

// The statuses. From Succeeded on, the stack has ended.
const (
	Waiting   Status = "waiting"
	Approving Status = "approval" // it waits for an approval
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Unchanged Status = "unchanged" // there was nothing to do
	Failed    Status = "failed"
	Skipped   Status = "skipped" // a preceding stack has failed
	Canceled  Status = "canceled"
	Refused   Status = "refused" // it was not approved
)

// Word returns the word for the status that people read. Programs read the status itself.
func (s Status) Word() string {
	if s == Canceled {
		return "cancelled"
	}
	return string(s)
}

// Kind is a kind of failure.
type Kind string

// The kinds of failure, and how they are handled.
const (
	Locked      Kind = "locked"      // another process holds the lock of the stack: wait
	Throttled   Kind = "throttled"   // a provider is throttled: back off
	Program     Kind = "program"     // it would fail again
	Interrupted Kind = "interrupted" // the outcome of an earlier operation is unknown: a person has to resolve it
	Setup       Kind = "setup"       // the worker is incomplete
	Lost        Kind = "lost"        // no worker has finished it
)

// Outcome is the outcome of a stack.
type Outcome struct {
	Status   Status         `json:"status"`
	Why      string         `json:"why,omitempty"` // the reason in words
	Kind     Kind           `json:"kind,omitempty"`
	Chain    []string       `json:"chain,omitempty"` // from the failed stack to the one before this one
	Changes  map[string]int `json:"changes,omitempty"`
	Began    time.Time      `json:"began,omitzero"`
	Ended    time.Time      `json:"ended,omitzero"`
	Attempts int            `json:"attempts,omitempty"`
	Worker   string         `json:"worker,omitempty"` // the machine
	Log      string         `json:"log,omitempty"`    // after a failure: the end of sluice's output
	Approval *Approval      `json:"approval,omitempty"`
	Drift    *DriftCount    `json:"drift,omitempty"`
	Reads    []string       `json:"reads,omitempty"`
	Outputs  string         `json:"outputs,omitempty"` // the digest of the outputs
	Planned  Planned        `json:"planned,omitzero"`
	Plan     string         `json:"plan,omitempty"`    // the digest of the plan, if the stack waits for an approval
	Attempt  string         `json:"attempt,omitempty"` // Attempt of the [StackRequest]
}

// mostShown limits the size of the texts of stacks in a view of a run, in bytes. A server accepts no texts larger than two megabytes.
const mostShown = 1 << 20

// within returns the outcome with texts of about that many bytes. It cuts the log first, which is also on the machine of the worker.
func (o Outcome) within(most int) Outcome {
	const left = "… (the rest is left out: `sluice fleet logs` shows it)"
	if over := len(o.Log) + len(o.Why) - most; over > 0 {
		o.Log = strings.ToValidUTF8(o.Log[min(over, len(o.Log)):], "")
	}
	if most = max(most, 200); len(o.Why) > most {
		o.Why = strings.ToValidUTF8(o.Why[:most], "") + left
	}
	return o
}

// OK reports whether the next stacks may begin.
func (o Outcome) OK() bool { return o.Status == Succeeded || o.Status == Unchanged }

// HasChanges reports whether anything was, or would be, changed.
func (o Outcome) HasChanges() bool {
	return len(o.changing()) > 0 || o.Drift != nil && o.Drift.Moved > 0
}

// changing returns the kinds of operations that have changed something, or would, in ascending order.
func (o Outcome) changing() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(o.Changes)), func(op string) bool {
		return o.Changes[op] == 0 || op == "same" || op == "read" || op == "discard"
	})
}

// ChangesText formats the number of actual or planned changes: "create 2, update 1". It is "" if that is unknown.
func (o Outcome) ChangesText() string {
	var parts []string
	for _, op := range o.changing() {
		parts = append(parts, fmt.Sprintf("%s %d", op, o.Changes[op]))
	}
	if len(parts) == 0 && len(o.Changes) > 0 {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

// DriftCount counts the resources that have drifted.
type DriftCount struct {
	Moved int `json:"moved"`
	Read  int `json:"read"`
}

// Progress is the progress of an operation, sent by heartbeats.
type Progress struct {
	Done    int    `json:"done"`
	Running int    `json:"running"`
	Failed  int    `json:"failed,omitempty"`
	Last    string `json:"last,omitempty"` // the last step that began
	Worker  string `json:"worker,omitempty"`
	Waits   string `json:"waits,omitempty"` // the reason for waiting
}

// StackView is one stack of a run, during the run.
type StackView struct {
	Name  string   `json:"name"`
	Needs []string `json:"needs,omitempty"`
	Outcome
}

// View is a run.
type View struct {
	Fleet     string      `json:"fleet"`
	Operation Operation   `json:"operation"`
	By        string      `json:"by,omitempty"`
	Began     time.Time   `json:"began"`
	Ended     time.Time   `json:"ended,omitzero"`
	Stacks    []StackView `json:"stacks"`
	Attempt   string      `json:"attempt,omitempty"` // the first workflow of the run, as the server names it
}

// Counts counts the stacks by status.
func (v View) Counts() map[Status]int {
	counts := map[Status]int{}
	for _, s := range v.Stacks {
		counts[s.Status]++
	}
	return counts
}
