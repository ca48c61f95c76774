package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
)

// Options define the plugins that run packs, and the services for packs.
type Options struct {
	Finder plugin.Finder
	// Acquire installs a missing language plugin of a pack; nil installs none.
	Acquire plugin.Acquire
	// Engine is the Engine service; nil when there is none.
	Engine source.Service
	// Schemas serves the Loader and the Mapper to packs that are plugins of a language; nil when there are none.
	Schemas source.Service
	// Debug selects the packs that wait for a debugger, by the names of their folders.
	Debug tooling.Debug
	// Required is set for a pack that somebody other than the user requires; nil for the user's own.
	Required *Required
}

// Required is the configuration by the party that requires a pack. Unlike a configuration file it may be for a pack that takes no
// configuration.
type Required struct {
	Config      map[string]json.RawMessage // by policy, as in a configuration file
	Environment []string                   // "NAME=value", for the process of the pack
}

// Pack is a policy pack on disk. It may be loaded several times, but not at the same time.
type Pack struct {
	directory string // absolute
	given     string // the path as the caller wrote it
	// executable is the path of a pack that is a program; "" for one that is a folder.
	executable string
	project    source.Project
	version    string // of the manifest, "" if it has none
	config     map[string]setting
	// hasConfig is true if there is a configuration file, which may be empty.
	hasConfig    bool
	environments []string // from the configuration file
	variables    []string // for the process, "NAME=value"
	options      Options
}

// Open reads the manifest of the pack at a path, and its configuration from a JSON file; configFile may be "". The path is that of a folder, or of
// an executable, which serves the pack and need not have a manifest in its folder. Open starts nothing. Its errors contain the path
// of the file.
func Open(path, configFile string, o Options) (*Pack, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("the policy pack %s: %w", path, err)
	}
	p := &Pack{directory: absolute, given: path, hasConfig: configFile != "", options: o}
	if info, err := os.Stat(absolute); err == nil && !info.IsDir() {
		p.directory, p.executable = filepath.Dir(absolute), absolute
	}
	m, err := readManifest(p.directory)
	if err != nil && (p.executable == "" || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	if err := engine.Require(filepath.Join(p.directory, plugin.PolicyManifest), m.RequiredVersion); err != nil {
		return nil, err
	}
	p.project, p.version = m.Project(p.directory), m.Version
	if o.Required == nil {
		p.config, p.environments, err = readConfig(configFile)
		return p, err
	}
	p.given, p.project, p.variables = "", Isolated(p.project), o.Required.Environment
	if p.config, err = requiredConfig(o.Required.Config); err != nil {
		return nil, fmt.Errorf("the configuration of the required policy pack in %s: %w", absolute, err)
	}
	return p, nil
}

// Isolated returns the project of a fetched pack for its installation and its runs: one in Python has a virtual environment of its own, so
// that its packages are not installed for others.
func Isolated(p source.Project) source.Project {
	if p.Runtime == "python" && p.Option("virtualenv") == "" {
		p.Options = maps.Clone(p.Options)
		if p.Options == nil {
			p.Options = map[string]any{}
		}
		p.Options["virtualenv"] = "venv"
	}
	return p
}

// Load implements [source.PolicyPack]. If the configuration is invalid, the error is a *[ConfigError].
func (p *Pack) Load(ctx context.Context, run stages.RunInfo, log func(stages.LogMessage)) (source.PolicyAnalyzer, error) {
	var out direct.Backlog // shown when the pack has started: if it does not, the error message contains the output
	engine, err := source.AddressOf(p.options.Engine)
	if err != nil {
		return nil, err
	}
	s, err := p.start(ctx, run, engine, out.Line, log)
	if err != nil {
		return nil, fmt.Errorf("the policy pack in %s did not start: %w", p.directory, err)
	}
	a := &Analyzer{served: s, directory: p.directory, given: p.given}
	if err := p.boot(ctx, a, run, engine, log); err != nil {
		_ = a.Close() // it is stopped in any case
		return nil, err
	}
	out.ShowTo(direct.Forward(log, "policy pack "+p.directory))
	return a, nil
}

func (p *Pack) boot(
	ctx context.Context, a *Analyzer, run stages.RunInfo, engine string, log func(stages.LogMessage),
) error {
	if err := a.connect(ctx); err != nil {
		return fmt.Errorf("the policy pack in %s: %w", p.directory, err)
	}
	if err := a.handshake(ctx, engine); err != nil {
		return err
	}
	if err := a.configureStack(ctx, run); err != nil {
		return err
	}
	d, err := a.describe(ctx)
	if err != nil {
		return err
	}
	if p.version != "" {
		a.info.Version = p.version
	}
	if !d.configurable {
		if p.hasConfig {
			return fmt.Errorf("policy pack %q at %q does not support config", a.info.Name, p.directory)
		}
		return nil
	}
	for name := range p.config {
		if name != allPolicies && !d.has(name) {
			log(stages.LogMessage{Severity: stages.Warning, Message: fmt.Sprintf(
				"the configuration of policy pack %s is about a policy %q, which the pack does not have\n", a.info.Name, name)})
		}
	}
	config := reconcile(d.policies, d.initial, p.config)
	if problems := validate(d.policies, config); len(problems) > 0 {
		return &ConfigError{Pack: a.info.Name, Version: a.info.Version, Problems: problems}
	}
	return a.configure(ctx, config)
}

// Environments returns the environments of Pulumi's service that the configuration file names. Their content is to be passed to
// [Pack.Complete].
func (p *Pack) Environments() []string { return p.environments }

// Complete adds a configuration by policy, over which that of the file takes precedence, and variables for the pack's process,
// "NAME=value".
func (p *Pack) Complete(below map[string]json.RawMessage, environment []string) error {
	under, err := requiredConfig(below)
	if err != nil {
		return err
	}
	for name, s := range under {
		s.Properties = maps.Clone(s.Properties)
		if s.Properties == nil {
			s.Properties = map[string]any{}
		}
		over := p.config[name]
		maps.Copy(s.Properties, over.Properties)
		if over.Level != nil {
			s.Level = over.Level
		}
		if p.config == nil {
			p.config = map[string]setting{}
		}
		p.config[name] = s
	}
	p.variables = append(p.variables, environment...)
	return nil
}

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
	c := tooling.PluginCommand{
		Kind: plugin.Analyzer, Name: p.name(), Version: p.version, Args: []string{engine}, Environment: environment, Output: output,
	}
	if p.options.Debug.Plugin(filepath.Base(p.directory)) {
		c.Debug = log
	}
	if p.executable != "" {
		return plugin.Start(plugin.Command{
			Name: p.name(), Version: p.version, Executable: p.executable, Args: []string{engine}, Environment: environment, Output: output,
		})
	}
	options := runtimes.Options{Finder: p.options.Finder, Engine: p.options.Engine, Schemas: p.options.Schemas}
	server, err := runtimes.StartHosted(ctx, p.project, c, options)
	if !errors.Is(err, tooling.ErrNoPlugins) && !errors.As(err, new(*runtimes.UnsupportedRuntimeError)) {
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
	if server, err = runtimes.StartDirect(ctx, p.project, c); !errors.Is(err, tooling.ErrNoPlugins) {
		return server, err
	}
	var acquiring error
	if options.Acquire = p.options.Acquire; options.Acquire != nil {
		server, err = runtimes.StartHosted(ctx, p.project, c, options)
		var unsupported *runtimes.UnsupportedRuntimeError
		if !errors.Is(err, tooling.ErrNoPlugins) && !errors.As(err, &unsupported) {
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
func (p *Pack) name() string {
	if p.executable != "" {
		return filepath.Base(p.executable)
	}
	return "policy-" + p.project.Runtime
}

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

// readManifest reads the manifest of a folder.
func readManifest(directory string) (source.Manifest, error) {
	m, err := source.ReadManifest(directory, plugin.PolicyManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, &noManifestError{directory}
	case err != nil:
		return m, fmt.Errorf("read the policy pack: %w", err)
	}
	return m, nil
}

// noManifestError reports a folder without a manifest. It is an [fs.ErrNotExist].
type noManifestError struct{ directory string }

func (e *noManifestError) Error() string {
	return fmt.Sprintf("there is no policy pack in %s: it has no %s; name the folder or the executable of a policy pack", e.directory, plugin.PolicyManifest)
}

func (e *noManifestError) Unwrap() error { return fs.ErrNotExist }
