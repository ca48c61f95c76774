package main

import (
	"context"
	"io"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// engineOptions assembles what the engine needs. The returned function ends plugins and programs.
func (o *operation) engineOptions(ctx context.Context, preview bool) (sluice.Options, func(), error) {
	service, err := sluice.ServeEngine(ctx)
	if err != nil {
		return sluice.Options{}, nil, err
	}
	closers := []io.Closer{service}
	closeAll := func() {
		for i := len(closers) - 1; i >= 0; i-- {
			_ = closers[i].Close() // what a plugin says while it ends changes nothing
		}
	}
	directory, entry, err := sluice.LocateProgram(o.project.Directory(), o.project.Main)
	if err != nil {
		closeAll()
		return sluice.Options{}, nil, exit.AsUsage(err)
	}
	plugins := o.pluginOptions(service, directory)
	host := sluice.NewPluginHost(plugins)
	closers = append(closers, host)
	options := sluice.Options{
		Stack: o.ref.Name, Project: o.project.Name, Root: o.project.Directory(), Directory: directory, Config: o.config,
		Providers: host, Service: service,
		ShowSecrets: o.flags.Display.ShowSecrets(), Legacy: o.cli.legacy(), Interrupts: &o.interrupts, Refresh: o.flags.Program.Refreshes(o.project.RefreshAlways),
		RunProgram: o.flags.Program.Run, ResolveCreate: o.resolveCreate,
		Plan: o.plan, MakePlan: preview && o.makesPlan(),
		StackOutputs: o.backend.StackOutputs, StackResources: o.backend.StackResources,
	}
	o.flags.Run.Apply(&options)
	if options.Targeting, err = o.flags.Targeting.Compile(); err != nil {
		closeAll()
		return sluice.Options{}, nil, err
	}
	if options.AnalyzeLimit, err = o.cli.analyzeLimit(); err != nil {
		closeAll()
		return sluice.Options{}, nil, err
	}
	if options.PolicyPacks, err = o.flags.Policies.Open(plugins); err != nil {
		closeAll()
		return sluice.Options{}, nil, err
	}
	program, err := sluice.NewProgram(sluice.ProgramFiles{
		Runtime: o.project.Runtime, Options: o.project.RuntimeOptions, Root: o.project.Directory(), Directory: directory, Entry: entry,
	}, plugins)
	switch {
	case err == nil:
		options.Program = program
		closers = append(closers, program)
	case o.runsProgram():
		closeAll()
		return sluice.Options{}, nil, err
	case o.kind.asksProgram:
		o.warnOnce("providers have the versions that the state names, as the program cannot be asked: %v", err)
	}
	return options, closeAll, nil
}

// runsProgram tells whether the operation runs the program.
func (o *operation) runsProgram() bool { return o.kind.needsProgram || o.flags.Program.Run }

// legacy is the old behaviour that the environment asks for.
func (c *cli) legacy() sluice.Legacy {
	return sluice.Legacy{
		Diff:                 c.EnvIsTrue("PULUMI_ENABLE_LEGACY_DIFF"),
		RefreshDiff:          c.EnvIsTrue("PULUMI_ENABLE_LEGACY_REFRESH_DIFF"),
		ProviderPreview:      c.EnvIsTrue("PULUMI_LEGACY_PROVIDER_PREVIEW"),
		NoResourceReferences: c.EnvIsTrue("PULUMI_DISABLE_RESOURCE_REFERENCES"),
		NoOutputValues:       c.EnvIsTrue("PULUMI_DISABLE_OUTPUT_VALUES"),
	}
}

func (o *operation) pluginOptions(service *sluice.EngineService, directory string) sluice.PluginOptions {
	options := sluice.PluginOptions{
		Engine: service, Directory: directory, Project: o.project.Name, RuntimeOptions: map[string]string{}, Config: o.config,
		Home: o.home, LookupEnv: o.cli.Lookup, Warn: func(message string) { o.cli.Warn("%s", message) },
		NoBuiltins: o.flags.Program.NoBuiltins, Note: o.noteOnce,
	}
	for name, v := range o.project.RuntimeOptions {
		if !workspace.IsObject(v) {
			options.RuntimeOptions[name] = workspace.Text(v)
		}
	}
	options.ProjectPlugins = projectPlugins(o.project)
	return options
}

// projectPlugins are the plugins that a project file names.
func projectPlugins(p *workspace.Project) []sluice.ProjectPlugin {
	var out []sluice.ProjectPlugin
	add := func(kind sluice.PluginKind, plugins []workspace.LocalPlugin) {
		for _, p := range plugins {
			out = append(out, sluice.ProjectPlugin{Kind: kind, Name: p.Name, Version: p.Version, Directory: p.Path})
		}
	}
	add(sluice.ResourcePlugin, p.Plugins.Providers)
	add(sluice.LanguagePlugin, p.Plugins.Languages)
	add(sluice.AnalyzerPlugin, p.Plugins.Analyzers)
	return out
}
