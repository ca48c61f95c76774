package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/stages"
)

// start starts the pack in the first available way (protocol.md 7.2): through the language plugin of its runtime, if that runs plugins;
// through an executable pulumi-analyzer-policy-<runtime>; directly, if the runtime needs no plugin; through a language plugin that is
// installed for this. engine is the address of the Engine service. log receives the place where a pack waits for a debugger.
func (p *Pack) start(
	ctx context.Context, info stages.RunInfo, engine string, output func(plugin.Line), log func(stages.LogMessage),
) (plugin.Server, error) {
	env, err := p.environment(info)
	if err != nil {
		return nil, err
	}
	env = append(env, p.variables...)
	runtime, environment := p.project.Runtime, append(os.Environ(), env...)
	c := source.PluginCommand{
		Kind: plugin.Analyzer, Name: p.name(), Version: p.version, Args: []string{engine}, Environment: environment, Output: output,
	}
	if p.options.Debug.Plugin(filepath.Base(p.directory)) {
		c.Debug = log
	}
	options := runtimes.Options{Finder: p.options.Finder, Engine: p.options.Engine, Schemas: p.options.Schemas}
	server, err := runtimes.StartHosted(ctx, p.project, c, options)
	if !errors.Is(err, source.ErrNoPlugins) && !errors.As(err, new(*runtimes.UnsupportedRuntimeError)) {
		return server, err
	}
	shim, err := p.options.Finder.Find(plugin.Analyzer, "policy-"+runtime, "")
	if err == nil {
		return plugin.Start(plugin.Command{
			Name: p.name(), Version: shim.Version, Executable: shim.Executable, Args: append([]string{engine, "."}, p.flags()...),
			Directory: p.directory, Environment: environment, Output: output,
		})
	}
	if !errors.As(err, new(*plugin.MissingError)) {
		return nil, err
	}
	if server, err = runtimes.StartDirect(ctx, p.project, c); !errors.Is(err, source.ErrNoPlugins) {
		return server, err
	}
	var acquiring error
	if options.Acquire = p.options.Acquire; options.Acquire != nil {
		server, err = runtimes.StartHosted(ctx, p.project, c, options)
		var unsupported *runtimes.UnsupportedRuntimeError
		if !errors.Is(err, source.ErrNoPlugins) && !errors.As(err, &unsupported) {
			return server, err
		}
		if unsupported != nil {
			acquiring = unsupported.Acquiring
		}
	}
	return nil, p.unsupported(acquiring)
}

// unsupported returns the error of a pack that cannot be run. acquiring is the reason why a language plugin could not be installed, nil if
// no installation was tried.
func (p *Pack) unsupported(acquiring error) error {
	runtime, tried := p.project.Runtime, ""
	if acquiring != nil {
		tried = "\n" + acquiring.Error()
	}
	return fmt.Errorf("its runtime is %q, which needs pulumi-language-%s or pulumi-analyzer-policy-%s, and neither was found; "+
		"install one, or correct `runtime` in %s (nodejs, python and go need no plugin)%s", runtime, runtime, runtime, plugin.PolicyManifest, tried)
}

// name returns the name of the process for messages, which contain the folder too.
func (p *Pack) name() string { return "policy-" + p.project.Runtime }

// flags returns the options of the runtime as the arguments of a shim.
func (p *Pack) flags() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(p.project.Options)) {
		if v := p.project.Option(name); v != "" {
			out = append(out, "-"+name+"="+v)
		}
	}
	return out
}

// environment returns the environment variables that describe the stack to a pack.
func (p *Pack) environment(info stages.RunInfo) ([]string, error) {
	env, err := direct.ConfigEnv(info)
	if err != nil {
		return nil, err
	}
	prefixes := []string{"PULUMI_"}
	if p.project.Runtime == "nodejs" {
		prefixes = append(prefixes, "PULUMI_NODEJS_")
	}
	for _, prefix := range prefixes {
		env = append(env, prefix+"ORGANIZATION="+info.Organization, prefix+"PROJECT="+info.Project,
			prefix+"STACK="+info.Stack, prefix+"DRY_RUN="+strconv.FormatBool(info.DryRun))
	}
	return env, nil
}

// ending returns the error of a pack whose process has ended.
func ending(name string, exit *plugin.ExitError) error {
	text := fmt.Sprintf("policy pack %s ended unexpectedly (%s)", name, exit.Status)
	if exit.Output != "" {
		text += "\n" + terminal.Plain(exit.Output)
	}
	return errors.New(text)
}
