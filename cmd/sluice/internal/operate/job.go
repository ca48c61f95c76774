package operate

import (
	"context"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/pending"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Job is an operation on a stack that is ready to run.
type Job struct {
	Stack    *session.Stack
	Terminal *terminal.Terminal
	Kind     Kind
	Flags    *flags.Operation
	Creates  pending.Answers // how interrupted creates are resolved

	// AfterPreview is called after a preview that has succeeded and is not followed by an operation; nil calls nothing.
	AfterPreview func(context.Context, *sluice.Result) error
	// AfterOperation is called after the operation, even if it failed, while the lock is held; nil calls nothing.
	AfterOperation func(context.Context) error

	values  map[workspace.Key]workspace.Value // the settings
	config  sluice.Config                     // the settings as the engine gets them
	secrets secrets.Manager                   // nil if no secret is needed
	plan    *state.Plan                       // the plan that the phases are held to; nil allows everything
	remarks *remarks
}

// runsProgram reports whether the operation runs the program.
func (j *Job) runsProgram() bool { return j.Kind.NeedsProgram || j.Flags.Program.Run }

// WithoutSecrets returns a text without the values of secret settings.
func (j *Job) WithoutSecrets(text string) string {
	shown := display.Scrub(secretTexts(j))(stages.Diagnostic{LogMessage: stages.LogMessage{Message: text}})
	return shown.(stages.Diagnostic).Message
}
