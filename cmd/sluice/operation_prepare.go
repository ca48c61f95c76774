package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func (c *cli) checkOperationFlags(f *operationFlags) error {
	if f.configPath && len(f.config) == 0 {
		return exit.Usagef("--config-path says how to read --config, which is not given")
	}
	if f.strict && f.skipPreview {
		return exit.Usagef("--strict cannot be used with --skip-preview: it holds the update to its preview")
	}
	if _, err := f.targeting(); err != nil {
		return err
	}
	switch f.checkpoint {
	case "", "timed":
	case string(sluice.CheckpointsAtEnd), string(sluice.CheckpointsEveryStep):
		c.checkpoints = sluice.CheckpointCadence(f.checkpoint)
	default:
		return exit.Usagef("--checkpoint %s: write timed, end or every-step", f.checkpoint)
	}
	if err := f.checkPendingFlags(); err != nil {
		return err
	}
	if err := f.policies.check(); err != nil {
		return err
	}
	if _, err := c.analyzeLimit(); err != nil {
		return err
	}
	if f.previewOnly || f.yes || f.skipPreview {
		return nil
	}
	if f.json || !c.Interactive() {
		return exit.Usagef("--yes or --skip-preview or --preview-only must be passed in to proceed when running in non-interactive mode")
	}
	return nil
}

// prepare saves --config settings, checks the configuration and opens the secrets.
func (o *operation) prepare(ctx context.Context) error {
	if err := o.checkRequiredVersion(); err != nil {
		return err
	}
	if _, err := o.flags.policies.open(sluice.PluginOptions{}); err != nil {
		return err // found before anything is done
	}
	if err := o.applyConfigFlags(); err != nil {
		return err
	}
	if o.file.HasEnvironments() {
		return fmt.Errorf("%s asks for environments of the hosted service, which are not supported; remove `environment`", o.file.Path)
	}
	values, missing := workspace.Effective(o.project, o.file)
	var manager sluice.SecretsManager
	var dec workspace.Decrypter
	if !o.flags.previewOnly || anySecret(values) || o.flags.savePlan != "" {
		var err error
		if manager, err = o.secretsManager(ctx); err != nil {
			return err
		}
		dec = manager.Decrypter()
	}
	if !o.flags.skipConfigValidation && (o.runsProgram() || o.kind.asksProgram) {
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

func (o *operation) applyConfigFlags() error {
	for _, setting := range o.flags.config {
		text, value, found := strings.Cut(setting, "=")
		if !found {
			value = ""
		}
		key, err := parseConfigKey(text, o.project.Name, o.flags.configPath)
		if err != nil {
			return err
		}
		if o.flags.configPath {
			err = o.file.SetPath(key, workspace.PathScalar(value))
		} else {
			err = o.file.Set(key, value, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
