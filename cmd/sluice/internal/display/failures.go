package display

import (
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Ending describes the end of an operation, besides its events.
type Ending struct {
	Failed string // the operation that has failed, for example "update"; "" if none has
	// Canceled is true if the operation was ended early, and the only failures are aborted steps.
	Canceled bool
	Order    map[urn.URN]int  // the sequence number of the first failure of each resource
	Advised  map[urn.URN]bool // whose messages contain advice
	Decided  []Unreached      // decided, and not reached
	// NextStep returns advice about the first cause if its message contains none. It may be nil.
	NextStep func(Failure) string
	// Planned are the steps of a preview in their final form. An event may have named another one of several causes, because the first of
	// them in the canonical order was decided later.
	Planned []stages.StepInfo
	// Log is the log of decisions; without it, there is nothing about root causes.
	Log *why.Log
}

// Unreached is a resource with a decision that was not carried out.
type Unreached struct {
	URN     urn.URN
	Because urn.URN // the resource that failed; "" if the operation had stopped
}

// Failure is one cause of a failed operation.
type Failure struct {
	URN     urn.URN // "" for the program, or the operation as a whole
	Unknown bool    // the outcome of a step of the operation is unknown
	Preview bool
	// Interrupted is true if the operation was interrupted: aborted steps have failed for that reason.
	Interrupted bool
}

// Limits on the failures at the end. The rest is among the diagnostics.
const (
	maxCauses     = 10
	maxCauseLines = 12 // of one of several causes; a single one is written as a whole
	maxNotReached = 8
)

// cause is a failure of one resource, and of others in the same way.
type cause struct {
	urn       urn.URN
	others    []urn.URN
	messages  []message
	unreached []urn.URN
}

// resources returns the resources that have failed.
func (c *cause) resources() []urn.URN { return append([]urn.URN{c.urn}, c.others...) }
