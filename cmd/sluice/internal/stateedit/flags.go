package stateedit

import (
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
)

// Flags are the flags of most commands on states.
type Flags struct {
	Stack     string
	Yes, JSON bool
}

// Add registers the flags.
func (f *Flags) Add(p *pflag.FlagSet) {
	flags.AddStack(p, &f.Stack)
	f.AddAnswers(p)
}

// AddAnswers registers the flags that do not select the stack.
func (f *Flags) AddAnswers(p *pflag.FlagSet) {
	flags.AddYes(p, &f.Yes, "do not ask for confirmation")
	flags.AddJSON(p, &f.JSON, "write what has changed as JSON, and ask nothing")
}
