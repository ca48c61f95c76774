package display

import (
	"io"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// Options select the content and the destination of a display.
type Options struct {
	// Title is the first line, for example "Updating (dev):".
	Title     string
	Noun      string // the operation, for example "update" or "preview"
	IsPreview bool
	IsRefresh bool   // the operation is a refresh, as in the title
	Command   string // the name of the program, for commands to type

	Out   io.Writer  // for people
	Width func() int // of the terminal that Out is, in cells; nil if it is none
	Color bool

	Lines
	Details

	OnlyEnd          bool // show only the end: messages, outputs, counts
	SuppressProgress bool // show only events, and no progress
	Events           bool // a log has a line for each step that begins or ends, written at once
	// Beginning describes the time until the first step begins, for example "starting the program".
	Beginning string
	// WaitsFor describes what the operation waits for later while no step runs, for example "the program or a provider":
	// checks and diffs are not steps, and have no events.
	WaitsFor string
	// Expected is how many resources are expected to change, 0 if that is unknown.
	Expected int
	// Left returns the estimated remaining time of the operation, "" if there is no estimate; it may be nil.
	Left func(now time.Time) string
	// Forecast is the forecast of the preceding preview; nil if there was none.
	Forecast *Forecast
	// Planned has the decisions of the preceding preview; nil if there was none, or they are unknown.
	Planned *why.Log
	Runtime string // of the program: the language of aliases
	// Frame folds the parts of the text in a service that supports that; nil for plain text.
	Frame  Frame
	Job    bool // progress lines are those of a job in a CI service
	Legend bool // explain the signs
	Hidden bool // count the unchanged resources, which are not shown
	// Unrealized holds the unrealized changes of the previous operation, by resource.
	Unrealized map[urn.URN]stages.Op
	// Departures holds the resources that have left the state otherwise than by an edit of the program.
	Departures why.Departures
	Now        func() time.Time
}

// Frame folds parts of a text in a service.
type Frame interface {
	Begin(title string) // begins a part that can be folded
	End(failed bool)
}

// Lines selects the lines of the log besides those for steps that change something.
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
	Extended        bool // JSON has sluice's extensions, such as reasons
}
