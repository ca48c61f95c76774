package standard

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/step"
)

// Stages are the standard stages of one run, in the order in which a registration passes them.
type Stages struct {
	Register pipeline.Stage[stages.Submitted, stages.Registered]
	Lookup   pipeline.Stage[stages.Registered, stages.Located]
	// Refresh is used only if the run refreshes resources as the program registers them ([stages.Settings.RefreshEach]).
	Refresh pipeline.Stage[stages.Located, stages.Located]
	Import  pipeline.Stage[stages.Located, stages.Located]
	Check   pipeline.Stage[stages.Located, stages.Checked]
	Analyze pipeline.Stage[stages.Checked, stages.Analyzed]
	Diff    pipeline.Stage[stages.Analyzed, stages.Diffed]
	Build   pipeline.Actor[stages.Diffed, Ask, Answer, stages.Built]
	Execute pipeline.Actor[stages.Built, step.Assignment, step.Report, stages.Executed]
}

// Assembly has the stages of a run, joined with those of a caller.
type Assembly struct {
	// Registrations is the pipeline of the program's registrations.
	Registrations pipeline.Flow[stages.Executed]
	// Deleting is called with deletes that are decided together, before the first of them begins. Its error refuses all of them,
	// and is recorded. nil lets all pass.
	Deleting func(context.Context, []stages.Deleting) error
	// Drain runs a flow to its end: that of the registrations, and that of the deletes after it.
	Drain func(context.Context, pipeline.Flow[stages.Executed]) error
}
