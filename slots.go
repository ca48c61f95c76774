package sluice

import (
	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

// Slot is a place in the pipeline for stages that take and emit items of one type.
type Slot[T any] struct {
	makers []slot.Maker[T]
	name   string                 // of made
	made   []pipeline.Stage[T, T] // the stages of one operation
}

// Insert puts a stage into the slot, after those that are there already. newStage is called once for each operation: a
// stage may keep state in its closure, which must not outlive the operation.
//
// The stage emits each of its items exactly once, changed or not, or returns an error for it. It breaks this rule, and the
// operation stops with a [*stages.SlotError], if it drops an item, emits one twice, or emits one with a reply, number or URN that
// no input has. There are two exceptions: it may drop a [stages.Registered] that it has rejected or answered, and it may emit one
// that [stages.Registered.Also] has made.
//
// A stage that has a Flush may keep items from one Run to another. Flush emits all kept items. In a slot it is not only called at
// the end: the program may send nothing more before it has the reply to a kept item, so Flush (or Idle, if the stage has one) is
// called whenever items are kept and no input waits. Which items are kept together depends on timing.
//
// A stopped operation ends its pipeline. Then Executed and Deleted do not get every step that has ended; events and the result do.
func (s *Slot[T]) Insert(newStage func(stages.Operation) pipeline.Stage[T, T]) {
	s.makers = append(s.makers, newStage)
}

// makeStages makes the stages for one operation.
func (s *Slot[T]) makeStages(name string, op stages.Operation) (err error) {
	s.name = name
	s.made, err = slot.Make(name, op, s.makers)
	return err
}

// anySlot is a slot for items of any type.
type anySlot interface {
	makeStages(name string, op stages.Operation) error
}

// Replace has functions that make stages in the place of standard ones, one for each operation. They get the standard stage. The
// stage that they return may call it for some of the items, or do something before or after it. A nil function leaves the standard
// stage.
//
// The rules of slots apply to the returned stages, but a refusal stops a preview, too. The other standard stages cannot be
// replaced, because they own the names, the decisions and the record.
type Replace struct {
	Import  func(stages.Operation, pipeline.Stage[stages.Located, stages.Located]) pipeline.Stage[stages.Located, stages.Located]
	Check   func(stages.Operation, pipeline.Stage[stages.Located, stages.Checked]) pipeline.Stage[stages.Located, stages.Checked]
	Analyze func(stages.Operation, pipeline.Stage[stages.Checked, stages.Analyzed]) pipeline.Stage[stages.Checked, stages.Analyzed]
	Diff    func(stages.Operation, pipeline.Stage[stages.Analyzed, stages.Diffed]) pipeline.Stage[stages.Analyzed, stages.Diffed]
}
