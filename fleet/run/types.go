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
	WaitsQuery      = "waits"   // of a stack: for which limit it waits, "" if for none
	GoSignal        = "go"      // to a run, with a [Go]
	LimitWorkflow   = "limit"
	AskActivity     = "ask"     // asks a limit for a place; it is local
	EndedActivity   = "ended"   // says which [Claim] are of workflows that have ended; it is local
	AskSignal       = "ask"     // to a limit, with a [Claim]
	GrantSignal     = "grant"   // to a stack, with [Claim.grant]
	ReleaseSignal   = "release" // to a limit, with a [Released]
	LimitQuery      = "limit"   // of a limit: its [Claims]
)

// Operation is what a run does with each stack.
type Operation string

// The operations.
const (
	Preview Operation = "preview"
	Up      Operation = "up"
	Refresh Operation = "refresh"
	Drift   Operation = "drift"
	Destroy Operation = "destroy"
)

// Changes reports whether resources are changed. Refresh changes what is recorded of them.
func (o Operation) Changes() bool { return o == Up || o == Destroy }

// Reversed reports whether dependents come first.
func (o Operation) Reversed() bool { return o == Destroy }

// Request is what a run is to do.
type Request struct {
	Fleet       string         `json:"fleet"`
	Operation   Operation      `json:"operation"`
	Stacks      []spec.Stack   `json:"stacks"`
	Others      []spec.Stack   `json:"others,omitempty"` // of the fleet, which are only read
	Concurrency int            `json:"concurrency"`
	Limits      map[string]int `json:"limits,omitempty"`
	Options     Options        `json:"options"`
	By          string         `json:"by,omitempty"` // who has begun it
	Carried     *Carried       `json:"carried,omitempty"`
	// Bound is true if the run begins only when a [Go] or a schedule says so. It is false in histories of earlier versions alone: what they have sealed cannot
	// be opened any more.
	Bound    bool   `json:"bound,omitempty"`
	Schedule string `json:"schedule,omitempty"` // the name of the schedule that begins it
}

// Go says that a run begins. It names the run as the server does, which no sealed text of an earlier run can do.
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
	Force            bool   `json:"force,omitempty"`            // nothing is left out because it is unchanged
	AssumeNotCreated bool   `json:"assumeNotCreated,omitempty"` // for interrupted creates of which nothing is found
	Since            string `json:"since,omitempty"`            // of drift
	Message          string `json:"message,omitempty"`          // for the history
	// Each is how many stacks one workflow works on before it goes on as a new one; 0 leaves that to the server.
	Each int `json:"each,omitempty"`
}

// Carried is what a run that goes on as a new one takes along.
type Carried struct {
	Began    time.Time              `json:"began"`
	Known    map[string]order.Known `json:"known"`
	Outputs  map[string]string      `json:"outputs"`
	Same     map[string]string      `json:"same,omitempty"`
	Outcomes map[string]Outcome     `json:"outcomes"`
	Earlier  map[string]Outcome     `json:"earlier,omitempty"`
	Asked    map[string]time.Time   `json:"asked,omitempty"` // since when stacks wait for an approval
	Approved map[string]*Approval   `json:"approved,omitempty"`
	Shown    map[string]Shown       `json:"shown,omitempty"`
	Attempt  string                 `json:"attempt,omitempty"` // the first workflow of the run, as the server names it
}

// Shown is what the operation on a stack would do. Approvals are of it.
type Shown struct {
	Plan    string         `json:"plan"` // its digest
	Changes map[string]int `json:"changes,omitempty"`
	Why     string         `json:"why,omitempty"` // why it is shown again
}

// Survey asks what is recorded of stacks.
type Survey struct {
	Stacks   []spec.Stack `json:"stacks"`
	Attempt  string       `json:"attempt,omitempty"` // the workflow that asks, as the server names it
	Schedule string       `json:"schedule,omitempty"`
	Does     Operation    `json:"does,omitempty"` // what comes after it
}

// Surveyed is what is recorded of a stack.
type Surveyed struct {
	order.Known
	Outputs string `json:"outputs,omitempty"` // the digest of its outputs
	Problem string `json:"problem,omitempty"` // why it could not be looked at
	// Same is true if nothing but what it reads can have changed since its last update, and Inputs is the digest of what it read then.
	Same    bool   `json:"same,omitempty"`
	Inputs  string `json:"inputs,omitempty"`
	Attempt string `json:"attempt,omitempty"` // that of the [Survey]
}

// InputsDigest returns the digest of what a stack reads: the references, sorted, and the digests of their outputs. It is "" if one is not known.
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

// NothingNew is what is said of a stack that is left as it is.
const NothingNew = "its program, its settings and what it reads have not changed since its last update"

// StackRequest is what is to be done with one stack.
type StackRequest struct {
	Run       string     `json:"run"`
	Fleet     string     `json:"fleet"`
	Operation Operation  `json:"operation"`
	Stack     spec.Stack `json:"stack"`
	Options   Options    `json:"options"`
	By        string     `json:"by,omitempty"`
	// Limits are how many stacks with each limit are worked on at once. Requests of earlier versions have none.
	Limits map[string]int `json:"limits,omitempty"`
	// Inputs are the digests of the outputs that the stack reads, by reference. Planned are the outputs that a preview of what it reads has
	// found to change.
	Inputs  map[string]string  `json:"inputs,omitempty"`
	Planned map[string]Planned `json:"planned,omitempty"`
	// Approval is what somebody has decided.
	Approval *Approval `json:"approval,omitempty"`
	// Look finds out what would be done, and does nothing. The outcome has the plan.
	Look bool `json:"look,omitempty"`
	// Bound is that of the [Request]. Parent is the workflow of the run and Attempt that of the stack, as the server names them.
	Bound    bool      `json:"bound,omitempty"`
	Parent   string    `json:"parent,omitempty"`
	Attempt  string    `json:"attempt,omitempty"`
	Schedule string    `json:"schedule,omitempty"`
	Asked    time.Time `json:"asked,omitzero"` // when the operation was given to the workers
}

// Planned are outputs that a preview predicts, as `sluice preview --save-outputs` writes them: those that change. A secret is never among
// them; it is unknown.
type Planned struct {
	Set     map[string]json.RawMessage `json:"set,omitempty"`
	Removed []string                   `json:"removed,omitempty"`
}

// IsEmpty reports whether nothing changes.
func (p Planned) IsEmpty() bool { return len(p.Set) == 0 && len(p.Removed) == 0 }

// Status is how far a stack has come.
type Status string

// The statuses. Those from Succeeded on are ends.
const (
	Waiting   Status = "waiting"
	Approving Status = "approval" // somebody has to approve it
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Unchanged Status = "unchanged" // there is nothing to do, so nothing was done
	Failed    Status = "failed"
	Skipped   Status = "skipped" // something that comes before has failed
	Canceled  Status = "canceled"
	Refused   Status = "refused" // somebody has said no
)

// Kind is a kind of failure.
type Kind string

// The kinds of failure, and what is done about them.
const (
	Locked      Kind = "locked"      // somebody else holds the lock of the stack: wait
	Throttled   Kind = "throttled"   // a provider asks for patience: back off
	Program     Kind = "program"     // it would fail again
	Interrupted Kind = "interrupted" // it is not known what an earlier operation has made: somebody has to find out
	Setup       Kind = "setup"       // the worker lacks something
	Lost        Kind = "lost"        // no worker has finished it
)

// Outcome is what became of a stack.
type Outcome struct {
	Status   Status         `json:"status"`
	Why      string         `json:"why,omitempty"` // in words
	Kind     Kind           `json:"kind,omitempty"`
	Chain    []string       `json:"chain,omitempty"` // from what has failed to what this one comes after
	Changes  map[string]int `json:"changes,omitempty"`
	Began    time.Time      `json:"began,omitzero"`
	Ended    time.Time      `json:"ended,omitzero"`
	Attempts int            `json:"attempts,omitempty"`
	Worker   string         `json:"worker,omitempty"` // the machine
	Log      string         `json:"log,omitempty"`    // the end of what sluice has printed, of a failure
	Approval *Approval      `json:"approval,omitempty"`
	Drift    *DriftCount    `json:"drift,omitempty"`
	Reads    []string       `json:"reads,omitempty"`
	Outputs  string         `json:"outputs,omitempty"` // the digest of the outputs
	Planned  Planned        `json:"planned,omitzero"`
	Plan     string         `json:"plan,omitempty"`    // the digest of what would be done, of a stack that waits for an approval
	Attempt  string         `json:"attempt,omitempty"` // that of the [StackRequest]
}

// mostShown is how much of what stacks have said is in a view of a run, in bytes. A server keeps no larger texts than two megabytes.
const mostShown = 1 << 20

// within returns the outcome with texts of about that many bytes: the log goes first, which the machine of the worker has.
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

// OK reports whether what comes after may begin.
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

// ChangesText says what was, or would be, done to how many resources: "create 2, update 1". It is "" if that is not known.
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

// DriftCount counts the resources that are not as they are recorded.
type DriftCount struct {
	Moved int `json:"moved"`
	Read  int `json:"read"`
}

// Progress is how far an operation has come; heartbeats carry it.
type Progress struct {
	Done    int    `json:"done"`
	Running int    `json:"running"`
	Failed  int    `json:"failed,omitempty"`
	Last    string `json:"last,omitempty"` // what was begun last
	Worker  string `json:"worker,omitempty"`
	Waits   string `json:"waits,omitempty"` // for what
}

// StackView is one stack of a run, while it runs.
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
