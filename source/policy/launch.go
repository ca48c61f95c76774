package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/source/nodejs"
	"github.com/sluice-iac/sluice/stages"
)

// served is a process that serves the Analyzer service.
type served interface {
	Port(ctx context.Context) (int, error)
	// ExitedWithin returns a *plugin.ExitError if the process has ended, or ends within that time, and nil otherwise.
	ExitedWithin(patience time.Duration) error
	Stop()
}

// start starts the pack in the first way that is available (protocol.md 7.2): by the language plugin of its runtime, if
// that can run plugins; by an executable pulumi-analyzer-policy-<runtime>; for Node.js directly. engine is the address of the
// Engine service.
func (p *Pack) start(ctx context.Context, info stages.RunInfo, engine string, output func(plugin.Line)) (served, error) {
	runtime, finder := p.project.Runtime, p.options.Finder
	env, err := p.environment(info)
	if err != nil {
		return nil, err
	}
	l, err := finder.Find(plugin.Language, runtime, "")
	switch {
	case err == nil:
		hosted, err := p.startHosted(ctx, l, engine, env, output)
		if !errors.Is(err, language.ErrNoPlugins) {
			return hosted, err
		}
	case !errors.As(err, new(*plugin.MissingError)):
		return nil, err
	}
	l, err = finder.Find(plugin.Analyzer, "policy-"+runtime, "")
	switch {
	case err == nil:
		return plugin.Start(plugin.Command{
			Name: p.name(), Executable: l.Executable, Args: append([]string{engine, "."}, p.flags()...),
			Directory: p.directory, Environment: append(os.Environ(), env...), Output: output,
		})
	case !errors.As(err, new(*plugin.MissingError)):
		return nil, err
	case runtime == "nodejs":
		return p.startNode(engine, env, output)
	}
	return nil, fmt.Errorf("its runtime is %q, which needs pulumi-language-%s or pulumi-analyzer-policy-%s, and neither was found; "+
		"install one, or correct `runtime` in %s (nodejs needs no plugin)", runtime, runtime, runtime, manifestFile)
}

// name returns the name of the process in messages, beside the folder.
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

func (p *Pack) startHosted(
	ctx context.Context, at plugin.Location, engine string, env []string, output func(plugin.Line),
) (served, error) {
	hosted, err := language.StartPlugin(ctx, p.project, language.Options{
		Executable: at.Executable, Engine: p.options.Engine,
	}, language.PluginCommand{
		Kind: plugin.Analyzer, Name: p.name(), Args: []string{engine}, Environment: append(os.Environ(), env...), Output: output,
	})
	if err != nil {
		return nil, err // not a nil pointer in an interface
	}
	return hosted, nil
}

func (p *Pack) startNode(engine string, env []string, output func(plugin.Line)) (served, error) {
	c, clean, err := nodejs.PolicyPack(p.project, engine)
	if err != nil {
		return nil, err
	}
	c.Name, c.Output = p.name(), output
	c.Environment = append(os.Environ(), env...)
	process, err := plugin.Start(c)
	if err != nil {
		clean()
		return nil, err
	}
	return &nodeProcess{Process: process, clean: sync.OnceFunc(clean)}, nil
}

// nodeProcess is a node process. It removes the files that node was started with when the process has ended.
type nodeProcess struct {
	*plugin.Process
	clean func()
}

// Stop ends the process.
func (p *nodeProcess) Stop() {
	p.Process.Stop()
	p.clean()
}

// ending describes how a process ended, in words about a pack.
func ending(name string, exit *plugin.ExitError) error {
	text := fmt.Sprintf("policy pack %s ended unexpectedly (%s)", name, exit.Status)
	if exit.Output != "" {
		text += "\n" + terminal.Plain(exit.Output)
	}
	return errors.New(text)
}
