package stages

import (
	"errors"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Submitted is what arrives from a program: a registration or a read that somebody waits for.
type Submitted struct {
	*Question
	Register *RegisterRequest
	Read     *ReadRequest
	internal *Goal // made by the engine: a default provider
}

// Question is the program's question that one item carries. It is answered exactly once: with the outcome of a step, or
// with an error when the item goes no further. The pipeline settles it when a stage fails (pipeline.Settler).
type Question struct {
	promise *await.Promise[*RegisterReply]
	// reportsResult is false for an SDK that understands no results but success.
	reportsResult bool
	// family is what the resource passes on to its children once it is registered; set before the item is emitted.
	family *family
}

func newQuestion(reportsResult bool) *Question {
	return &Question{promise: await.NewPromise[*RegisterReply](), reportsResult: reportsResult}
}

// Settle tells the program that the item goes no further. It does nothing when the question has been answered.
func (q *Question) Settle(err error) {
	if err == nil || errors.Is(err, pipeline.ErrStopped) || errors.As(err, new(*bailError)) {
		err = ErrShutDown
	}
	q.promise.Fail(err)
}

// answer gives the program its reply.
func (q *Question) answer(r *RegisterReply) {
	if r.Result != Success && !q.reportsResult {
		q.promise.Fail(ErrRegistrationFailed)
		return
	}
	q.promise.Resolve(r)
}

// Registered is a registration whose goal is complete, or a read.
type Registered struct {
	*Question
	Goal     *Goal
	Read     *ReadGoal // not nil for a read; Goal is nil then
	Internal bool      // a default provider: neither shown nor counted
}

// ReadGoal is a resource that a program reads and does not manage (steps.md 4.1).
type ReadGoal struct {
	Type                    urn.Type
	Name                    string
	ID                      property.Value
	Parent                  urn.URN
	Properties              property.Map
	Dependencies            []urn.URN
	Provider                string
	ExtensionRef            string
	AdditionalSecretOutputs []string
	SourcePosition          string
	StackTrace              []state.StackFrame
}

// Located is a registration with its URN and the recorded state that it continues.
type Located struct {
	Registered
	// Seq numbers registrations in order of arrival, from 1. Ties are broken by it, never by completion time.
	Seq int
	URN urn.URN
	// Old is the recorded state, nil for a resource that is new. It is never a copy awaiting deletion.
	Old *state.Resource
	// Included is false for a resource that is not part of the operation (steps.md 6.2): it stays as it is.
	Included bool
	// claimed is the state of the base that Old is, or was before this run refreshed it: the graph and the claims know it
	// by that. It is nil when Old was imported by this run.
	claimed *state.Resource
	// rereads is true when the recorded state is read again.
	rereads bool
	// passive is true when the run does not make the resource what the program declares (steps.md 7.4, 7.5): it is neither
	// checked nor compared.
	passive bool
	// stranded is true when it is passive because it refers to something that is not created. Reads are passive for no other
	// reason.
	stranded bool
	// answered is true when the registration has failed and the program knows: nothing more is to be done, but it still has
	// to be decided, because others may wait for that.
	answered bool
	// imported is true when Old was recorded by this very run (steps.md 4.2).
	imported bool
	// invalid is why the registration must stop once its inputs have been checked too; it has been reported.
	invalid error
	// interrupted are the interrupted creates of the resource, nil if there are none.
	interrupted *interruption
	// Alias is the old URN through which Old was found, "" when it was found under its own.
	Alias urn.URN
}

// isRenamed tells whether the recorded state has another name.
func (l Located) isRenamed() bool { return l.Alias != "" }

// Checked is a registration whose inputs its provider has accepted.
type Checked struct {
	Located
	// Inputs are the checked inputs; for components the program's.
	Inputs property.Map
	// Raw is true when Check was called without old inputs (steps.md 3.5).
	Raw        bool
	seed       []byte
	autonaming *providers.Autonaming
	// accepted are the inputs as the provider accepted them, before analyzers rewrote any: those of plans.
	accepted property.Map
	// violation is set when the registration is not as planned, unless it turns out to be made anew.
	violation *PlanViolation
	// deleteFirst is true when the resource's name has nothing random in it (steps.md 3.5).
	deleteFirst bool
}

// Analyzed is a registration that the analyzers have passed; its inputs may have been remediated.
type Analyzed struct {
	Checked
	// Violations are those that did not stop it.
	Violations []Violation
	// remediated is true when an analyzer has rewritten the inputs.
	remediated bool
}

// Diffed is a registration that has been compared with its recorded state.
type Diffed struct {
	Analyzed
	// Compared is false when there is nothing to compare with.
	Compared bool
	Diff     providers.DiffResponse
	// MustReplace is true when the comparison asks for a replacement.
	MustReplace bool
	// Triggered is true when the replacement trigger fired, which replaces without details.
	Triggered bool
	// Rechecked are the inputs for the new object of a replacement: those of a second Check without old inputs.
	Rechecked *property.Map
	Reason    Reason
	// by says who has compared.
	by Decider
	// gone is true when a delete-before-replace of something else deletes the recorded state, and what has been compared with
	// it counts nevertheless, because the program has another name for the resource.
	gone bool
}

// Replaces tells whether the resource would be replaced.
func (d Diffed) Replaces() bool {
	if d.Old == nil {
		return false
	}
	changed := d.Diff.Changes == providers.DiffSome || d.isPending()
	return changed && (d.MustReplace || d.Triggered || d.isPending())
}

// isPending tells whether the resource waits to be made again: in this run or in an earlier one it has been deleted.
func (d Diffed) isPending() bool { return d.Old.PendingReplacement || d.gone }

// Reject returns the error with which a stage refuses the registration: the run stops, and the message is shown at the
// resource.
func (l Located) Reject(message string) error {
	return &RejectedError{URN: l.URN, Message: message}
}

// RejectedError says that a stage refused a registration.
type RejectedError struct {
	URN     urn.URN
	Message string
}

func (e *RejectedError) Error() string { return e.Message }

// Built is a decision: the steps of one registration, and what each of them has to wait for.
type Built struct {
	Located
	// Tasks hold the steps. Each step is in one of them.
	Tasks []Task
	// after are deletes of other registrations that must be over before any of the tasks begins: a resource is made again
	// only once it is gone, and a dependency is deleted only after its dependents.
	after []deletion
	// refusal is why the steps must not be taken, nil for almost all.
	refusal error
	// keepsGoing is true where a failure stops nothing but what waits for it.
	keepsGoing bool
}

// Steps returns all steps, task by task.
func (b Built) Steps() []*Decision {
	if len(b.Tasks) == 1 {
		return b.Tasks[0].Steps
	}
	var steps []*Decision
	for _, t := range b.Tasks {
		steps = append(steps, t.Steps...)
	}
	return steps
}

// Task is steps that are taken one after the other, as soon as the tasks that it comes after have succeeded. A task without
// steps only carries order from one task to another. IDs are given out in the order in which tasks are decided on; if several
// can begin and not all may, the lowest comes first.
type Task struct {
	ID    graph.ID
	Steps []*Decision
	After []graph.ID
}

// Executed is a registration whose steps are done.
type Executed struct {
	URN   urn.URN
	Steps []*Decision
	Err   error // of the step that failed, nil when all succeeded
}
