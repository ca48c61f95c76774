package operate

import (
	"context"
	"fmt"
	"io"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/environments"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/gc"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/state/backend"
)

// openHost opens the host of the plugins and the program, which the phases share. The returned function closes both.
func openHost(ctx context.Context, o *operation) (closeAll func(), err error) {
	project := o.job.Stack.Session.Project
	directory, entry, err := source.Locate(project.Directory(), project.Main)
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	options := PluginOptions(o.job, directory)
	options.KeepPlugins = !o.job.Flags.Incremental.Off
	o.host = host.Open(ctx, options)
	o.program, o.noProgram = openProgram(o.job, source.Project{
		Runtime: project.Runtime, Options: project.RuntimeOptions, Root: project.Directory(), Directory: directory, Entry: entry,
		Debug: o.job.Flags.Program.Debug.Program,
	}, o.host.Options())
	return o.foreground.begun(func() { // an error of an ending process changes nothing
		if o.program != nil {
			_ = o.program.Close()
		}
		_ = o.host.Close()
	}), nil
}

// engineOptions assembles the options of the engine. The returned function ends what only this phase needs: the policy packs.
func engineOptions(ctx context.Context, o *operation, phase backend.Run, preview bool) (options sluice.Options, closeAll func(), err error) {
	var closers []io.Closer
	closeAll = func() {
		for i := len(closers) - 1; i >= 0; i-- {
			_ = closers[i].Close() // an error of an ending plugin changes nothing
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	plugins := o.host.Options()
	options = basicOptions(o, preview)
	options.Directory, options.Providers, options.Service = plugins.Directory, o.host.Plugins, o.host.Service
	if err := addFlags(&options, o.job); err != nil {
		return options, closeAll, err
	}
	packs, err := o.job.Flags.Policies.Open(plugins)
	if err != nil {
		return options, closeAll, err
	}
	for _, pack := range packs {
		options.PolicyPacks = append(options.PolicyPacks, pack)
		remove, err := completePack(ctx, o.job, pack)
		if err != nil {
			return options, closeAll, err
		}
		closers = append(closers, remove)
	}
	if o.job.runsProgram() { // otherwise policies have nothing to check
		for _, r := range phase.Policies() {
			pack, remove, err := requiredPack(ctx, o.job, r, plugins)
			if err != nil {
				return options, closeAll, err
			}
			options.PolicyPacks, closers = append(options.PolicyPacks, pack), append(closers, remove)
		}
	}
	switch {
	case o.noProgram == nil:
		options.Program = o.program
	case o.job.runsProgram():
		return options, closeAll, o.noProgram
	case o.job.Kind.AsksProgram:
		o.job.remarks.warn("the versions of providers are taken from the state, because the program cannot be read: %v", o.noProgram)
	}
	return options, closeAll, nil
}

// basicOptions returns the options that cannot be invalid.
func basicOptions(o *operation, preview bool) sluice.Options {
	s, f := o.job.Stack, o.job.Flags
	root := ""
	if s.Session.Project.HasFile() {
		root = s.Session.Project.Directory()
	}
	return sluice.Options{
		Stack: s.Ref.Name, Project: s.Session.Project.Name, Organization: s.Ref.Organization(), Root: root, Config: o.job.config,
		Log: o.job.Terminal.Log, Secrets: &o.job.known, ShowSecrets: f.Display.ShowSecrets(), Legacy: legacy(o.job.Terminal), Interrupts: &o.interrupts,
		Refresh: f.Program.Refreshes(s.Session.Project.RefreshAlways), RefreshOnly: o.reading.options(), RunProgram: f.Program.Run, ResolveCreate: o.job.Creates.Resolve,
		Plan: o.job.plan, MakePlan: preview && (f.Plan.Save != "" || o.asks() || f.Plan.Strict && o.job.plan == nil),
		StackOutputs: predicted(o.job.predicted, s.Session.Backend.StackOutputs), StackResources: s.Session.Backend.StackResources,
		Answers: o.answers.preview, Recorded: o.answers.recorded, Entropy: o.answers.entropy,
		MemoryLimit: gc.Limit(),
	}
}

// addFlags adds the options set by flags and the environment.
func addFlags(options *sluice.Options, j *Job) error {
	j.Flags.Run.Apply(options)
	var err error
	if options.Targeting, err = j.Flags.Targeting.Compile(); err != nil {
		return err
	}
	options.AnalyzeLimit, err = analyzeLimit(j.Terminal)
	return err
}

// requiredPack returns a policy pack that a phase must be checked against, with its configuration and the variables of its environments. The closer
// removes the files of these.
func requiredPack(ctx context.Context, j *Job, r backend.RequiredPolicy, plugins host.PluginOptions) (*policy.Pack, io.Closer, error) {
	opened, err := packEnvironments(ctx, j, r.Environments)
	if err != nil {
		return nil, nil, fmt.Errorf("the policy pack %s %s: %w", r.Name, r.Version, err)
	}
	if opened != nil {
		if r.Config, err = opened.PolicyConfig(r.Name, r.Config); err != nil {
			return nil, nil, err
		}
	}
	variables, remove, err := opened.Prepare()
	if err != nil {
		return nil, nil, err
	}
	pack, err := host.OpenRequiredPolicyPack(ctx, j.Stack.Ref.Organization(), r, variables, plugins)
	if err != nil {
		remove()
	}
	return pack, removal(remove), err
}

// packEnvironments opens the environments of a policy pack, nil for none.
func packEnvironments(ctx context.Context, j *Job, names []string) (*environments.Opened, error) {
	if len(names) == 0 {
		return nil, nil
	}
	definition, err := workspace.EnvironmentOf(names)
	if err != nil {
		return nil, err
	}
	opened, err := environments.Define(ctx, j.Stack, definition, environments.Query{Open: true})
	if err != nil {
		return nil, err
	}
	for _, secret := range opened.Secrets() {
		j.known.Add(secret)
	}
	return opened, nil
}

// completePack adds to the user's policy pack the settings of the environments that its configuration file names. The closer removes their files.
func completePack(ctx context.Context, j *Job, pack *policy.Pack) (io.Closer, error) {
	opened, err := packEnvironments(ctx, j, pack.Environments())
	if err != nil || opened == nil {
		return removal(func() {}), err
	}
	below, err := opened.PolicyConfig("", nil)
	if err != nil {
		return nil, err
	}
	variables, remove, err := opened.Prepare()
	if err != nil {
		return nil, err
	}
	if err := pack.Complete(below, variables); err != nil {
		remove()
		return nil, err
	}
	return removal(remove), nil
}

// removal removes something when it is closed.
type removal func()

// Close implements [io.Closer].
func (r removal) Close() error {
	r()
	return nil
}

// legacy returns the old behaviour that the environment requests.
func legacy(t *terminal.Terminal) sluice.Legacy {
	return sluice.Legacy{
		Diff:                 t.EnvIsTrue("PULUMI_ENABLE_LEGACY_DIFF"),
		RefreshDiff:          t.EnvIsTrue("PULUMI_ENABLE_LEGACY_REFRESH_DIFF"),
		ProviderPreview:      t.EnvIsTrue("PULUMI_LEGACY_PROVIDER_PREVIEW"),
		NoResourceReferences: t.EnvIsTrue("PULUMI_DISABLE_RESOURCE_REFERENCES"),
		NoOutputValues:       t.EnvIsTrue("PULUMI_DISABLE_OUTPUT_VALUES"),
	}
}
