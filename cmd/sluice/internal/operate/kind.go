package operate

import (
	"context"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/stages"
)

// Kind describes the differences between updates, destroys, refreshes and so on.
type Kind struct {
	History           string // the kind in the history
	Noun              string // in questions
	Previewing, Doing string // the titles
	// NeedsProgram is true if the program runs. AsksProgram is true if it does not run, but lists the versions of its
	// packages.
	NeedsProgram, AsksProgram bool
	// Command is the command of a kind whose resources can be chosen by flags, "" for others.
	Command string
	// Partial says how the operation can go on after a preview that has failed, without what failed, and reports whether it can. From then on
	// Perform does only the rest. It is nil for kinds that cannot.
	Partial          func(r *sluice.Result, err error) (next string, can bool)
	Preview, Perform func(*sluice.Engine, context.Context) (*sluice.Result, error)
}

// Update is the kind of up and preview.
func Update() Kind {
	return Kind{
		History: "update", Command: "sluice up", Noun: "update", Previewing: "Previewing update", Doing: "Updating", NeedsProgram: true,
		Preview: (*sluice.Engine).Preview, Perform: (*sluice.Engine).Update,
	}
}

// Destroy is the kind of destroy.
func Destroy() Kind {
	return Kind{
		History: "destroy", Command: "sluice destroy", Noun: "destroy", Previewing: "Previewing destroy", Doing: "Destroying",
		Preview: (*sluice.Engine).PreviewDestroy, Perform: (*sluice.Engine).Destroy,
	}
}

// Refresh is the kind of refresh.
func Refresh() Kind {
	return Kind{
		History: "refresh", Command: "sluice refresh", Noun: "refresh", Previewing: "Previewing refresh", Doing: "Refreshing",
		Preview: (*sluice.Engine).PreviewRefresh, Perform: (*sluice.Engine).Refresh,
	}
}

// Recovery is the kind of recover. In the history it is a refresh. It has no preview.
func Recovery() Kind {
	return Kind{History: Refresh().History, Noun: "recovery", Doing: "Recovering", Perform: (*sluice.Engine).Recover}
}

// Import is the kind of an import of these resources.
func Import(requests []stages.ImportRequest) Kind {
	return Kind{
		History: "import", Noun: "import", Previewing: "Previewing import", Doing: "Importing", AsksProgram: true,
		Preview: func(e *sluice.Engine, ctx context.Context) (*sluice.Result, error) {
			return e.PreviewImport(ctx, requests...)
		},
		Perform: func(e *sluice.Engine, ctx context.Context) (*sluice.Result, error) { return e.Import(ctx, requests...) },
	}
}
