package assembly

import (
	"errors"

	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

// Slots has the constructors of stages, by slot of an engine.
type Slots struct {
	Submitted  []slot.Maker[stages.Submitted] // before register
	Registered []slot.Maker[stages.Registered]
	Located    []slot.Maker[stages.Located]
	Checked    []slot.Maker[stages.Checked]
	Analyzed   []slot.Maker[stages.Analyzed]
	Diffed     []slot.Maker[stages.Diffed]
	Built      []slot.Maker[stages.Built]
	Executed   []slot.Maker[stages.Executed]
	Deleting   []slot.Maker[stages.Deleting]
	Deleted    []slot.Maker[stages.Deleted]
}

// Replacers make stages that replace standard ones; nil leaves the standard stage.
type Replacers struct {
	Import  slot.Replacer[stages.Located, stages.Located]
	Check   slot.Replacer[stages.Located, stages.Checked]
	Analyze slot.Replacer[stages.Checked, stages.Analyzed]
	Diff    slot.Replacer[stages.Analyzed, stages.Diffed]
}

// Stages are the caller's stages of one operation.
type Stages struct {
	operation stages.Operation
	messages  *messages
	replacers Replacers

	submitted  []pipeline.Stage[stages.Submitted, stages.Submitted]
	registered []pipeline.Stage[stages.Registered, stages.Registered]
	located    []pipeline.Stage[stages.Located, stages.Located]
	checked    []pipeline.Stage[stages.Checked, stages.Checked]
	analyzed   []pipeline.Stage[stages.Analyzed, stages.Analyzed]
	diffed     []pipeline.Stage[stages.Diffed, stages.Diffed]
	built      []pipeline.Stage[stages.Built, stages.Built]
	executed   []pipeline.Stage[stages.Executed, stages.Executed]
	deleting   []pipeline.Stage[stages.Deleting, stages.Deleting]
	deleted    []pipeline.Stage[stages.Deleted, stages.Deleted]
}

// Make makes the stages for the operation with this name. It returns an error if one of them cannot be made or used.
func (s Slots) Make(name string, replacers Replacers, settings stages.Settings) (*Stages, error) {
	out := &Stages{messages: &messages{}, replacers: replacers}
	out.operation = stages.NewOperation(name, settings.Mode, settings.Info, out.messages.say)
	var errs [10]error
	out.submitted, errs[0] = slot.Make("submitted", out.operation, s.Submitted)
	out.registered, errs[1] = slot.Make("Registered", out.operation, s.Registered)
	out.located, errs[2] = slot.Make("Located", out.operation, s.Located)
	out.checked, errs[3] = slot.Make("Checked", out.operation, s.Checked)
	out.analyzed, errs[4] = slot.Make("Analyzed", out.operation, s.Analyzed)
	out.diffed, errs[5] = slot.Make("Diffed", out.operation, s.Diffed)
	out.built, errs[6] = slot.Make("Built", out.operation, s.Built)
	out.executed, errs[7] = slot.Make("Executed", out.operation, s.Executed)
	out.deleting, errs[8] = slot.Make("Deleting", out.operation, s.Deleting)
	out.deleted, errs[9] = slot.Make("Deleted", out.operation, s.Deleted)
	return out, errors.Join(errs[:]...)
}
