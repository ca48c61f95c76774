package standard

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/imports"
	"github.com/sluice-iac/sluice/stages/internal/refresh"
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

// Stages returns the stages of the run. They may be used once.
func (r *Run) Stages() Stages {
	judge := r.analyst()
	checks := &checker{control: r.control, rooms: r.rooms, access: r.access, plans: r.plans, autonamer: r.settings.Autonamer}
	compares := &differ{
		control: r.control, rooms: r.rooms, access: r.access, checker: checks, analyst: judge, legacyDiff: r.settings.Legacy.Diff,
	}
	takesOver := &importer{rooms: r.rooms, access: r.access, plans: r.plans, executor: r.executor, targets: r.targets}
	return Stages{
		Register: registerStage(r.admission),
		Lookup:   (&namer{control: r.control, names: r.writers.Names, registry: r.access.Registry}).stage(),
		Refresh:  (&rereader{reader: r.reader(), passes: r.writers.Reread}).stage(),
		Import:   takesOver.stage(),
		Check:    checks.stage(),
		Analyze:  judge.stage(),
		Diff:     compares.stage(),
		Build:    newBuilder(r.control, r.rooms, r.writers.Decisions, r.writers.Decided, r.plans, r.targets).stage(&questioner{prober: r.prober(), differ: compares}),
		Execute:  r.scheduler.Actor(),
	}
}

func (r *Run) analyst() *analyst {
	return &analyst{
		control: r.control, rooms: r.rooms, families: r.admission.Families,
		analyzers: r.settings.Analyzers, limit: r.settings.AnalyzeLimit, directory: r.settings.Directory,
	}
}

func (r *Run) prober() *closure.Prober {
	return &closure.Prober{Rooms: r.rooms, Access: r.access}
}

func (r *Run) reader() *refresh.Reader {
	return &refresh.Reader{
		Control: r.control, Rooms: r.rooms, Access: r.access, Executor: r.executor, LegacyRefreshDiff: r.settings.Legacy.RefreshDiff,
	}
}

func (r *Run) imports() *imports.ImportRun {
	return &imports.ImportRun{
		Control: r.control, Rooms: r.rooms, Access: r.access, Defaults: r.admission.Defaults, Scheduler: r.scheduler,
		Entropy: r.settings.Entropy, PackageConfig: r.settings.PackageConfig,
	}
}
