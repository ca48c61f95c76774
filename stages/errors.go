package stages

import (
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// ErrShutDown is wrapped by the errors of a [Monitor] after the run has stopped. Over gRPC it has the code Unavailable, which SDKs
// take as "the engine went away" ([protocol.md 4.14]).
//
// [protocol.md 4.14]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#414-errors
var ErrShutDown = errors.New("resource monitor shut down")

// ErrRegistrationFailed is the error for a failed or skipped registration of a program that does not understand results
// ([steps.md 1.3]). Over gRPC it has the code Internal.
//
// [steps.md 1.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#13-the-answer-to-the-program
var ErrRegistrationFailed = errors.New("resource registration failed")

// InvalidRequestError reports that a program sent something malformed. Over gRPC it has the code InvalidArgument.
type InvalidRequestError struct{ Err error }

func (e *InvalidRequestError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *InvalidRequestError) Unwrap() error { return e.Err }

// Failure is an error that makes a run fail. All of it has already been shown as a diagnostic.
type Failure struct {
	Seq int // of the registration, 0 for none
	URN urn.URN
	Err error
}

func (f Failure) Error() string {
	if f.URN == "" {
		return f.Err.Error()
	}
	return fmt.Sprintf("%s: %v", f.URN, f.Err)
}

// Unwrap returns the cause.
func (f Failure) Unwrap() error { return f.Err }

// ReportedError stops the pipeline. The failure behind it has been reported and recorded.
type ReportedError struct {
	Err error
	// GoesOn is true if only one registration has failed, and the run goes on with the others.
	GoesOn bool
}

func (e *ReportedError) Error() string { return e.Err.Error() }

func (e *ReportedError) Unwrap() error { return e.Err }

// IsReported reports whether err only means that the run stopped because of a failure that is already recorded.
func IsReported(err error) bool { return err != nil && errors.As(err, new(*ReportedError)) }

// GoesOn reports whether err only means that one registration has failed, and the run goes on with the others.
func GoesOn(err error) bool {
	var reported *ReportedError
	return errors.As(err, &reported) && reported.GoesOn
}

// SlotError reports that a stage that a caller put into the pipeline has broken the rules of its slot.
type SlotError struct {
	Slot  string  // as the field of the engine
	Stage string  // "" if it is not known which one of the slot it was
	Seq   int     // of the registration; 0 if it had none yet
	URN   urn.URN // "" if it had none yet
	// Problem is what the stage has done.
	Problem string
}

func (e *SlotError) Error() string {
	if e.Stage == "" {
		return fmt.Sprintf("the stages in the slot %s: %s", e.Slot, e.Problem)
	}
	return fmt.Sprintf("stage %q in the slot %s: %s", e.Stage, e.Slot, e.Problem)
}

// StageFailedError reports that a stage that a caller put into the pipeline has returned an error of its own, and not that of Refuse. A preview
// shows it and goes on, as with a refusal.
type StageFailedError struct {
	Slot  string // as the field of the engine
	Stage string
	Seq   int     // of the registration; 0 if it had none yet
	URN   urn.URN // "" if it had none yet
	Item  string  // what the stage worked on
	Err   error
}

func (e *StageFailedError) Error() string {
	text := fmt.Sprintf("stage %q in the slot %s", e.Stage, e.Slot)
	if e.Item != "" && e.Item != string(e.URN) {
		text += ", " + e.Item
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the error of the stage.
func (e *StageFailedError) Unwrap() error { return e.Err }

// InterruptedCreateError reports that a resource was not created because the outcome of an earlier create is unknown.
type InterruptedCreateError struct {
	URN urn.URN
	// Interrupted is the URN of the resource in the earlier operation.
	Interrupted urn.URN
}

func (e *InterruptedCreateError) Error() string {
	return fmt.Sprintf("%s is not created: an earlier operation was interrupted while creating %s, and it is not known whether the object exists.",
		e.URN, formerName(e))
}

// Advice returns what the user can do: find out the outcome of the create, or give it.
func (e *InterruptedCreateError) Advice() []advice.Advice {
	return []advice.Advice{advice.On(advice.ResolveCreate, e.Interrupted)}
}

func formerName(e *InterruptedCreateError) string {
	if e.URN == e.Interrupted {
		return "it"
	}
	return "it as " + string(e.Interrupted)
}

// PlanViolation reports that the plan does not allow a change to a resource ([steps.md 12]). The change has not been made.
//
// [steps.md 12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#12-update-plans
type PlanViolation struct {
	URN     urn.URN
	Rule    string // the violated rule, in the words of steps.md 12.3 to 12.5
	Planned string
	Now     string // the change that was not made
}

// Error names the rule, and in three lines the planned change, the present one, and what to do.
func (v *PlanViolation) Error() string {
	return fmt.Sprintf("%s\n  planned:    %s\n  now:        %s\n  what to do: undo what changed since the preview, or preview again and update by the new plan",
		v.Rule, v.Planned, v.Now)
}

// Invalid returns an [*InvalidRequestError]. Its arguments are those of [fmt.Errorf].
func Invalid(format string, args ...any) error {
	return &InvalidRequestError{Err: fmt.Errorf(format, args...)}
}

// UnknownInputError reports that a resource cannot be made because one of its inputs is unknown. Only a preview may go on without
// it.
type UnknownInputError struct {
	URN      urn.URN
	Property property.Path
	// Why describes the value and how to get it, "" if only its source is known.
	Why string
	// From is the resource that the value comes from, "" if the program does not give it. Because is the reason why it is unknown.
	From    urn.URN
	Because UnknownBecause
	Missing []urn.URN // with SourceNotCreated: the resources that would have to be part of the operation
}

// UnknownBecause is the reason why an output of a resource is unknown outside of a preview.
type UnknownBecause uint8

// The reasons. With UnknownSource it is not known.
const (
	UnknownSource    UnknownBecause = iota
	SourceNotCreated                // the resource is not created, because it is not part of the operation
	SourceFailed                    // an operation on the resource has failed, or was skipped
	UnknownOutputs                  // the resource's recorded outputs are not all known
)

func (e *UnknownInputError) Error() string {
	text := fmt.Sprintf("nothing is done about %s: the value of its property %s is not ", e.URN, e.Property)
	if e.Why != "" {
		return text + "available: " + e.Why
	}
	text += "known"
	if e.From == "" {
		return text + ", and the program does not say from which resource it comes"
	}
	text += fmt.Sprintf("; it comes from %s", e.From)
	switch e.Because {
	case SourceNotCreated:
		text += ", which is not created, because it is not part of the operation"
	case SourceFailed:
		text += ", which has failed"
	case UnknownOutputs:
		text += ", whose recorded outputs are not all known: refresh or update it first"
	}
	return text
}

// Advice names the resources that would have to be part of the operation.
func (e *UnknownInputError) Advice() []advice.Advice {
	if len(e.Missing) == 0 {
		return nil
	}
	return []advice.Advice{advice.On(advice.TargetNeeded, e.Missing...)}
}

// EphemeralError refuses a property that would record an ephemeral value (docs/decisions/0282).
type EphemeralError struct {
	At   string        // the resource of the property: its URN, or its name and type
	Path property.Path // of the property
	From urn.URN       // the resource that the value comes from
	// FromPath is the property of From that is ephemeral.
	FromPath property.Path
}

// Error implements error.
func (e *EphemeralError) Error() string {
	return fmt.Sprintf("the property %q of %s has the value of the property %q of %s, which is ephemeral (sluice:ephemeral); it would be recorded. "+
		"Do not pass the value, or name that property, too, if it is one of a resource", e.Path, e.At, e.FromPath, e.From)
}
