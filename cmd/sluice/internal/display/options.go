package display

import (
	"io"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Options define what to show and where.
type Options struct {
	// Title is the first line, for example "Updating (dev):".
	Title     string
	Noun      string // what is under way, for example "update" or "preview"
	IsPreview bool
	IsRefresh bool   // the operation is a refresh, as the title says
	Command   string // the name of the program, for commands to type

	Out   io.Writer  // for people
	Width func() int // of the terminal that Out is, in cells; nil if it is none
	Color bool

	Lines
	Details

	OnlyEnd          bool // show only how it ends: messages, outputs, counts
	SuppressProgress bool // show only what has happened, not what is under way
	// Beginning is what is under way until the first step begins, for example "starting the program".
	Beginning string
	// WaitsFor is what the operation waits for later while no step runs, for example "the program or a provider":
	// checks and diffs are not steps, and have no events.
	WaitsFor string
	// Expected is how many resources are expected to change, 0 if it is not known.
	Expected int
	// Left says how long the operation will still take, "" if nobody knows; nil if nobody ever does.
	Left func(now time.Time) string
	// Forecast is what the preview before has said; nil if there was none.
	Forecast *Forecast
	// Planned is what the preview before has decided; nil if there was none, or nobody knows.
	Planned *why.Log
	Runtime string // of the program: the language of aliases
	// Frame shows the parts of the text in a service that can fold them; nil for plain text.
	Frame Frame
	// Heartbeat is how often a line says what goes on while nothing else is written; 0 is the usual interval.
	Heartbeat time.Duration
	Legend    bool // explain the signs
	Hidden    bool // say how many resources are not shown, because they do not change
	// Unrealized holds the changes that were possible the last time, and did not happen: what was to be done to each resource.
	Unrealized map[urn.URN]stages.Op
	Now        func() time.Time
}

// Frame is how a service folds parts of a text.
type Frame interface {
	Begin(title string) // of a part that can be folded
	End(failed bool)
}

// Lines selects the lines that the log has besides those for steps that change something.
type Lines struct {
	ShowConfig           bool // the settings, before anything else
	ShowSames            bool
	ShowReads            bool
	ShowReplacementSteps bool
	ShowRemediations     bool // every change of inputs by a policy
	Debug                bool // debug messages
}

// Details defines how much of a resource and of its values is shown.
type Details struct {
	Diff            bool // all property diffs instead of one line for each step
	ShowURNs        bool // URNs instead of types and names
	ShowSecrets     bool
	ShowFullOutput  bool // do not cut long values
	SuppressOutputs bool // do not show the outputs of the stack
	Extended        bool // JSON has what Pulumi's does not, such as reasons
}
