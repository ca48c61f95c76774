package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func (c *cli) checkOperationFlags(f *flags.Operation) error {
	if err := f.Check(); err != nil {
		return err
	}
	if _, err := c.analyzeLimit(); err != nil {
		return err
	}
	if err := f.Confirmation.Check(c.Interactive() && !f.Display.JSON); err != nil {
		return err
	}
	var err error
	c.checkpoints, err = f.Run.Checkpoints()
	return err
}

// analyzeLimit reads how many policy packs may judge at once; 0 is all.
func (c *cli) analyzeLimit() (int, error) {
	const name = "PULUMI_PARALLEL_ANALYZE"
	text := c.Env(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, exit.Usagef("the environment variable %s is %q: write how many policy packs may judge at once, or 0 for all", name, text)
	}
	return n, nil
}

// prepare saves --config settings, checks the configuration and opens the secrets.
func (o *operation) prepare(ctx context.Context) error {
	if err := o.checkRequiredVersion(); err != nil {
		return err
	}
	if _, err := o.flags.Policies.Open(sluice.PluginOptions{}); err != nil {
		return err // found before anything is done
	}
	if err := o.flags.Settings.Apply(o.file, o.project.Name); err != nil {
		return err
	}
	if o.file.HasEnvironments() {
		return fmt.Errorf("%s asks for environments of the hosted service, which are not supported; remove `environment`", o.file.Path)
	}
	values, missing := workspace.Effective(o.project, o.file)
	var manager sluice.SecretsManager
	var dec workspace.Decrypter
	if !o.flags.Confirmation.PreviewOnly || workspace.AnySecret(values) || o.flags.Plan.Save != "" {
		var err error
		if manager, err = o.secretsManager(ctx); err != nil {
			return err
		}
		dec = manager.Decrypter()
	}
	if !o.flags.Program.SkipConfigValidation && (o.runsProgram() || o.kind.asksProgram) {
		if err := workspace.Validate(ctx, o.project, o.name(), values, missing, dec); err != nil {
			return err
		}
	}
	config, err := workspace.EngineConfig(ctx, values, dec)
	if err != nil {
		return err
	}
	if manager != nil {
		o.stack = o.stack.WithSecrets(manager)
	}
	o.values, o.config, o.secrets = values, config, manager
	if err := o.readPlan(ctx); err != nil {
		return err
	}
	return o.file.Save()
}

// checkRequiredVersion refuses a project that wants another version of Pulumi (state.md 6.1).
func (o *operation) checkRequiredVersion() error {
	wanted := o.project.RequiredVersion
	if wanted == "" {
		return nil
	}
	ok, err := sluice.SatisfiesPulumiRange(wanted)
	switch {
	case err != nil:
		return exit.Usagef("%s: requiredPulumiVersion: %w; write a range such as \">=3.0.0\"", o.project.Path, err)
	case !ok:
		return exit.Usagef("%s: requiredPulumiVersion is %q, and sluice %s behaves as Pulumi %s; change the range if that is good enough",
			o.project.Path, wanted, sluice.Version, sluice.PulumiVersion)
	}
	return nil
}
