package flags

import (
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// Confirmation defines what precedes the changes, and whether any are allowed.
type Confirmation struct {
	Yes, SkipPreview, PreviewOnly bool
	ExpectNoChanges               bool
}

// Add registers the flags of the operations that change something.
func (c *Confirmation) Add(f *pflag.FlagSet) {
	AddYes(f, &c.Yes, "do not ask for confirmation")
	f.BoolVarP(&c.SkipPreview, "skip-preview", "f", false, "do not preview first")
}

// AddPreviewOnly registers the flag of operations that can stop after their preview.
func (c *Confirmation) AddPreviewOnly(f *pflag.FlagSet, usage string) {
	f.BoolVar(&c.PreviewOnly, "preview-only", false, usage)
}

// AddExpectNoChanges registers the flag of operations that should have nothing to do.
func (c *Confirmation) AddExpectNoChanges(f *pflag.FlagSet) {
	f.BoolVar(&c.ExpectNoChanges, "expect-no-changes", false, "exit with status 7 if there are, or would be, changes of resources; outputs of the stack and options such as protect are none")
}

// Check refuses an operation that needs a confirmation but has no terminal.
func (c *Confirmation) Check(canAsk bool) error {
	if c.PreviewOnly || c.Yes || c.SkipPreview || canAsk {
		return nil
	}
	return exit.Usagef("--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode")
}

// AddYes registers the flag that answers questions with yes.
func AddYes(f *pflag.FlagSet, yes *bool, usage string) { f.BoolVarP(yes, "yes", "y", false, usage) }
