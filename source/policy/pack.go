package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
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
	Debug source.Debug
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
	given     string // the directory as the caller wrote it
	project   source.Project
	version   string // of the manifest, "" if it has none
	config    map[string]setting
	// hasConfig is true if there is a configuration file, which may be empty.
	hasConfig    bool
	environments []string // from the configuration file
	variables    []string // for the process, "NAME=value"
	options      Options
}

// Open reads the manifest of the pack in a folder, and its configuration from a JSON file; configFile may be "". It starts nothing. Its
// errors contain the path of the file.
func Open(directory, configFile string, o Options) (*Pack, error) {
	absolute, err := filepath.Abs(directory)
	if err != nil {
		return nil, fmt.Errorf("the policy pack %s: %w", directory, err)
	}
	m, err := readManifest(absolute)
	if err != nil {
		return nil, err
	}
	p := &Pack{directory: absolute, given: directory, project: m.Project(absolute), version: m.Version, hasConfig: configFile != "", options: o}
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

// portPatience limits the time until a pack has written its port: TypeScript is compiled first.
const portPatience = 10 * time.Minute

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
