package session

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Opener opens projects and stacks for a command.
type Opener struct {
	Terminal      *terminal.Terminal
	SkipIntegrity bool // do not check the integrity of the state
	FullNames     bool // show stacks with their organization and project
	// Provider is the secrets provider of a stack that the user makes at a question; "" is the default.
	Provider string
	// Derivation derives keys from passphrases.
	Derivation secrets.Derivation

	checkpoints backend.Cadence // how often an operation writes the stack file
	deciding    bool            // the command handles journals that need a decision
	undecided   map[string]bool // the stacks with a warning that their journals need a decision
}

// NewOpener returns an opener for a command with the given terminal.
func NewOpener(t *terminal.Terminal) *Opener {
	return &Opener{Terminal: t, Derivation: secrets.PBKDF2{}, undecided: map[string]bool{}}
}

// Again returns an opener for another command of the same process.
func (o *Opener) Again() *Opener {
	again := NewOpener(o.Terminal.Again())
	again.Derivation = o.Derivation
	return again
}

// WithCheckpoints returns an opener whose stacks write their file during an operation as often as c says.
func (o *Opener) WithCheckpoints(c backend.Cadence) *Opener {
	changed := *o
	changed.checkpoints = c
	return &changed
}

// Deciding returns an opener for a command that handles a journal that needs a decision. It does not warn about one.
func (o *Opener) Deciding() *Opener {
	changed := *o
	changed.deciding = true
	return &changed
}

// WarnedOf reports whether the user was warned that the journal of a stack needs a decision.
func (o *Opener) WarnedOf(stack string) bool { return o.undecided[stack] }

func (o *Opener) warnUndecided(err *backend.JournalError) {
	if o.deciding {
		return
	}
	o.undecided[err.Stack] = true
	o.Terminal.Warn("%v", err)
}

// Session finds the project and opens its backend (state.md 4.1).
func (o *Opener) Session(ctx context.Context) (*Session, error) {
	s, err := o.AnySession(ctx)
	if err == nil {
		err = s.nowhere
	}
	return s, err
}

// AnySession is [Opener.Session] for commands that need no project. Outside of all projects the session has one without a name.
func (o *Opener) AnySession(ctx context.Context) (*Session, error) {
	t := o.Terminal
	project, err := FindProject()
	var nowhere error
	if errors.Is(err, workspace.ErrNoProject) {
		project, nowhere, err = workspace.NoFile(""), err, nil
	}
	if err != nil {
		return nil, err
	}
	for _, w := range project.Warnings {
		t.Warn("%s", w)
	}
	s := &Session{Terminal: t, Project: project, FullNames: o.FullNames, provider: o.Provider, nowhere: nowhere}
	s.Passphrases = o.Keys()
	if s.Home, err = stateworkspace.Home(t.Lookup); err != nil {
		return nil, err
	}
	if s.BackendURL, err = host.BackendURL(s.Home, project.BackendURL, t.Lookup); err != nil {
		return nil, err
	}
	s.Selection = stateworkspace.NewSelection(s.Home, project.Name, project.Path, s.BackendURL)
	s.Backend, err = host.OpenBackend(ctx, host.BackendOptions{
		URL: s.BackendURL, Project: project.Name, LookupEnv: t.Lookup, Passphrases: s.Passphrases, SkipIntegrity: o.SkipIntegrity,
		Stores: cloud.Stores(), Checkpoints: o.checkpoints, Note: t.WarnWith, Undecided: o.warnUndecided,
		Renamed: func(from, to backend.Ref) (string, error) { return follow(s, from, to) },
	})
	if err != nil {
		return nil, err
	}
	s.Passphrases = s.Backend.Passphrases()
	return s, nil
}

// Keys opens the secrets of states, wherever they are from: with passphrases, for which it may ask, and key services.
func (o *Opener) Keys() secrets.Source {
	t := o.Terminal
	var prompt secrets.Prompt
	if t.Interactive() || t.EnvIsTrue("PULUMI_TEST_PASSPHRASE") { // scripts answer at the standard input
		prompt = terminal.AskPassphrase(t)
	}
	return secrets.NewSource(t.Lookup, prompt).WithKeepers(cloud.Keepers()).WithService(serviceKeys(t)).WithDerivation(o.Derivation)
}

// CheckProject returns an error if there is no project and no environment variable that names a stack.
func (o *Opener) CheckProject() error {
	_, err := FindProject()
	switch {
	case !errors.Is(err, workspace.ErrNoProject):
		return err
	case o.Terminal.Env("PULUMI_STACK") != "":
		return nil
	}
	return unnamed(err)
}

// State opens a stack: the named one, or the selected one if name is "". It may belong to a project in another place. State does
// not read the settings, because edits of a state do not need them.
func (o *Opener) State(ctx context.Context, name string) (*Stack, error) {
	s, err := o.AnySession(ctx)
	if err != nil {
		return nil, err
	}
	ref, err := s.ChooseOrAsk(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.of(ref).Open(ctx, ref)
}

// Stack opens a stack of the project, the named one or the selected one. It reads its settings from the file settings, or from
// the stack's own file if settings is empty.
func (o *Opener) Stack(ctx context.Context, name, settings string) (*Stack, error) {
	s, err := o.Session(ctx)
	if err != nil {
		return nil, err
	}
	ref, err := s.ChooseOrAsk(ctx, name)
	if err != nil {
		return nil, err
	}
	if !s.Owns(ref) {
		return nil, s.foreign(ref)
	}
	opened, err := s.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	return opened, opened.ReadSettings(settings)
}

// AnyStack is [Opener.Stack] for commands that need neither the program nor the project's settings: the stack may belong to a
// project in another place.
func (o *Opener) AnyStack(ctx context.Context, name, settings string) (*Stack, error) {
	s, err := o.State(ctx, name)
	if err != nil {
		return nil, err
	}
	return s, s.ReadSettings(settings)
}
