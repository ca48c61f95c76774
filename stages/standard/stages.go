package standard

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
	"github.com/sluice-iac/sluice/stages/internal/sweep"
	"github.com/sluice-iac/sluice/stages/internal/take"
)

// Stages are the standard stages of one run, in the order in which a registration passes them.
type Stages struct {
	Register pipeline.Stage[stages.Submitted, stages.Registered]
	Lookup   pipeline.Stage[stages.Registered, stages.Located]
	// Refresh is passed only where the run refreshes what the program registers ([stages.Settings.RefreshEach]).
	Refresh pipeline.Stage[stages.Located, stages.Located]
	Import  pipeline.Stage[stages.Located, stages.Located]
	Check   pipeline.Stage[stages.Located, stages.Checked]
	Analyze pipeline.Stage[stages.Checked, stages.Analyzed]
	Diff    pipeline.Stage[stages.Analyzed, stages.Diffed]
	Build   pipeline.Actor[stages.Diffed, Ask, Answer, stages.Built]
	Execute pipeline.Actor[stages.Built, take.Assignment, take.Report, stages.Executed]
}

// Assembly is the stages of a run, joined with those of a caller.
type Assembly struct {
	// Registrations is the pipeline of the program's registrations.
	Registrations pipeline.Flow[stages.Executed]
	// Deleting is called with the deletes that are decided on together, before the first of them begins. Its error refuses all of them, and
	// is recorded. nil lets all pass.
	Deleting func(context.Context, []stages.Deleting) error
	// Finish runs a flow to its end: that of the registrations, and that of the deletes after it.
	Finish func(context.Context, pipeline.Flow[stages.Executed]) error
}

// Stages returns the stages of the run. They may be used once.
func (r *Run) Stages() Stages {
	judge := r.analyst()
	checks := &checker{control: r.control, book: r.book, access: r.access, plans: r.plans, autonamer: r.settings.Autonamer}
	compares := &differ{
		control: r.control, book: r.book, access: r.access, checker: checks, analyst: judge, legacyDiff: r.settings.Legacy.Diff,
	}
	takesOver := &importer{book: r.book, access: r.access, plans: r.plans, taker: r.taker, targets: r.targets}
	return Stages{
		Register: registerStage(r.admission),
		Lookup:   (&namer{control: r.control, names: r.rooms.Names, registry: r.access.Registry}).stage(),
		Refresh:  refreshStage(r.reader(), r.rooms.Reread),
		Import:   takesOver.stage(),
		Check:    checks.stage(),
		Analyze:  judge.stage(),
		Diff:     compares.stage(),
		Build:    newBuilder(r.control, r.book, r.rooms.Decisions, r.rooms.Decided, r.plans, r.targets).stage(&questioner{prober: r.prober(), differ: compares}),
		Execute:  r.executor.Actor(),
	}
}

func (r *Run) analyst() *analyst {
	return &analyst{
		control: r.control, book: r.book, families: r.admission.Families,
		analyzers: r.settings.Analyzers, limit: r.settings.AnalyzeLimit, directory: r.settings.Directory,
	}
}

func (r *Run) prober() *closure.Prober {
	return &closure.Prober{Book: r.book, Access: r.access}
}

func (r *Run) reader() *sweep.Reader {
	return &sweep.Reader{
		Control: r.control, Book: r.book, Access: r.access, Taker: r.taker, LegacyRefreshDiff: r.settings.Legacy.RefreshDiff,
	}
}

func (r *Run) imports() *sweep.ImportRun {
	return &sweep.ImportRun{
		Control: r.control, Book: r.book, Access: r.access, Defaults: r.admission.Defaults, Executor: r.executor,
		Entropy: r.settings.Entropy, PackageConfig: r.settings.PackageConfig,
	}
}
