package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/environments"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/shown"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source/engine"
)

// Prepare prepares an operation: it applies and saves the settings of the flags, checks the configuration, opens the
// secrets and reads the plan.
func Prepare(ctx context.Context, s *session.Stack, kind Kind, f *flags.Operation) (*Job, error) {
	j := &Job{Stack: s, Terminal: s.Session.Terminal, Kind: kind, Flags: f}
	j.remarks = &remarks{terminal: s.Session.Terminal, masks: j.masks(), shown: shown.About(ctx, s)}
	j.installer = host.NewInstaller(install.Options{Home: s.Session.Home, LookupEnv: s.Session.Terminal.Lookup}, PluginOptions(j, ""))
	if err := checkRequiredVersion(s.Session.Project); err != nil {
		return nil, err
	}
	if _, err := f.Policies.Open(host.PluginOptions{}); err != nil {
		return nil, err // before any effect
	}
	if err := f.Settings.Apply(s.Settings, s.Session.Project.Name); err != nil {
		return nil, err
	}
	if err := openEnvironments(ctx, j); err != nil {
		return nil, err
	}
	if err := prepareConfig(ctx, j); err != nil {
		return nil, err
	}
	var err error
	if j.plan, err = readPlan(ctx, f.Plan.File, j.secrets); err != nil {
		return nil, err
	}
	if j.predicted, err = readOutputs(ctx, f.Outputs.Known); err != nil {
		return nil, err
	}
	if err := unlockState(ctx, j); err != nil {
		return nil, err
	}
	return j, s.Settings.Save()
}

// openEnvironments opens the environments of the stack, and completes its settings.
func openEnvironments(ctx context.Context, j *Job) error {
	s := j.Stack
	overrides, err := j.Flags.Settings.Overrides()
	if err != nil {
		return err
	}
	if j.environments, err = environments.Of(ctx, s, environments.Query{Open: true, Overrides: overrides}); err != nil || j.environments == nil {
		return err
	}
	for _, secret := range j.environments.Secrets() {
		j.known.Add(secret)
	}
	if !j.environments.HasEffect() {
		j.remarks.warn("the environments of the stack have no `pulumiConfig`, `environmentVariables` or `files`, so they change nothing")
	}
	return j.environments.Complete(ctx, s)
}

// prepareConfig decrypts and validates the settings, and sets the secrets manager of the stack.
func prepareConfig(ctx context.Context, j *Job) error {
	s, f := j.Stack, j.Flags
	values, missing, err := workspace.Effective(s.Session.Project, s.Settings)
	if err != nil {
		return err
	}
	var dec workspace.Decrypter
	if !f.Confirmation.PreviewOnly || f.Incremental.On || values[workspace.Key{Namespace: "sluice", Name: "incremental"}] != nil || workspace.AnySealed(values) || f.Plan.Save != "" || f.Outputs.Save != "" {
		manager, err := session.SecretsManager(ctx, s)
		if err != nil {
			return err
		}
		j.secrets, dec = manager, manager.Decrypter()
		if err := workspace.OpenAhead(ctx, dec, maps.Values(values)); err != nil {
			return err
		}
	}
	if !f.Program.SkipConfigValidation && (j.runsProgram() || j.Kind.AsksProgram) {
		if err := workspace.Validate(ctx, s.Session.Project, s.Name(), values, missing, dec); err != nil {
			return fmt.Errorf("validating stack config: %w", err) // scripts look for these words
		}
		for _, key := range s.Settings.Keys() {
			if text := s.Session.Project.Undeclared(key); text != "" {
				j.remarks.warnOnce("%s", text)
			}
		}
	}
	config, err := workspace.EngineConfig(ctx, values, dec)
	if err != nil {
		return err
	}
	if j.secrets != nil {
		s.State = s.State.WithSecrets(j.secrets)
	}
	j.values, j.config = workspace.Recorded(s.Session.Project, s.Settings, values), config
	if _, err := keptHistory(j); err != nil {
		return err
	}
	return checkArchives(j)
}

// checkRequiredVersion refuses a project that requires another version of Pulumi (state.md 6.1).
func checkRequiredVersion(p *workspace.Project) error {
	if err := engine.Require(p.Path, p.RequiredVersion); err != nil {
		return exit.Usagef("%w", err)
	}
	return nil
}

// unlockState requests the passphrase of a state that has secrets, before a screen is drawn. A state without secrets needs none. Other errors of
// the state are left to the operation.
func unlockState(ctx context.Context, j *Job) error {
	if !j.Stack.Session.Passphrases.MayAsk() {
		return nil
	}
	if _, err := j.Stack.State.Load(ctx); errors.Is(err, terminal.ErrInterrupted) {
		return err
	}
	return nil
}

// unlockForSecrets requests the passphrase if the operation will record secrets, according to its preview, before anything is changed. If only a
// provider makes a secret, the later request takes the terminal from the screen.
func unlockForSecrets(ctx context.Context, o *operation, previewed *sluice.Result) error {
	if o.job.secrets == nil || !o.job.Stack.Session.Passphrases.MayAsk() {
		return nil
	}
	for _, s := range previewed.Steps() {
		if s.New != nil && (s.New.Inputs.HasSecrets() || s.New.Outputs.HasSecrets()) {
			_, err := o.job.secrets.Encrypter().Encrypt(ctx, "")
			return err
		}
	}
	return nil
}
