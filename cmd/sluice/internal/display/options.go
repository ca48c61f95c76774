package display

import (
	"io"
	"time"
)

// Options say what to show and where.
type Options struct {
	// Title is the first line, for example "Updating (dev):".
	Title     string
	IsPreview bool

	Out io.Writer // what people read
	// Live is the terminal on which a last line may be redrawn, nil when there is none. Width returns its width in cells.
	Live  io.Writer
	Width func() int
	Color bool

	Lines
	Details

	SuppressProgress bool // do not show what is going on, only what has happened
	// Beginning is what goes on until the first step begins, for example "starting the program".
	Beginning string
	// WaitsFor is what is waited for after that while no step runs, for example "the program or a provider": checks and diffs
	// are no steps, and nobody tells the log of them.
	WaitsFor string
	// Expected is how many steps the operation is likely to have, 0 when nobody knows.
	Expected int
	Now      func() time.Time
}

// Lines say which lines the log has besides those for steps that change something.
type Lines struct {
	ShowConfig           bool // the settings, before anything else
	ShowSames            bool
	ShowReads            bool
	ShowReplacementSteps bool
	ShowRemediations     bool // what policies rewrote, case by case
	Debug                bool // debug messages
}

// Details say how much of a resource and of its values is shown.
type Details struct {
	Diff            bool // whole property diffs instead of one line for each step
	ShowURNs        bool // URNs instead of types and names
	ShowSecrets     bool
	ShowFullOutput  bool // do not cut long values
	SuppressOutputs bool // do not show the outputs of the stack
}
