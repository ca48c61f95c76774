// Package runtimes chooses how a program is run: through a language plugin, or directly where no plugin is needed.
//
// It starts nothing.
//
// Invariant: the same project and the same installed plugins give the same choice.
package runtimes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/golang"
	"github.com/sluice-iac/sluice/source/java"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/source/nodejs"
	"github.com/sluice-iac/sluice/source/python"
	"github.com/sluice-iac/sluice/source/yaml"
)

// Options are what a choice depends on besides the project.
type Options struct {
	// Finder finds language plugins.
	Finder plugin.Finder
	// Acquire installs a language plugin that a program needs and that is not there; nil installs none.
	Acquire plugin.Acquire
	// Engine is the Engine service; nil when there is none.
	Engine source.Service
	// Schemas serves the Loader and the Mapper; nil when there are none.
	Schemas source.Service
	// LogFlags are the arguments that language plugins and converters get before their own, which ask them to log.
	LogFlags []string
	// Providers starts the providers that a YAML program needs the schemas of; nil when there are none.
	Providers providers.Host
}

// UnsupportedRuntimeError says that there is no way to run a program.
type UnsupportedRuntimeError struct {
	Runtime string
	Looked  []string // where a language plugin could have been
	Asked   bool     // the runtime needs no plugin, but one was asked for
	// Acquiring says why the plugin could not be installed either; nil if that was not tried.
	Acquiring error
}

// Unwrap returns why the plugin could not be installed.
func (e *UnsupportedRuntimeError) Unwrap() error { return e.Acquiring }

// Advice says that the plugin can be installed, unless another runtime is meant.
func (e *UnsupportedRuntimeError) Advice() []advice.Advice {
	if name := Meant(e.Runtime); name != "" && name != e.Runtime {
		return nil
	}
	return []advice.Advice{{Action: advice.InstallPlugin, Plugin: advice.Plugin{Kind: string(plugin.Language), Name: e.Runtime}}}
}

func (e *UnsupportedRuntimeError) Error() string {
	if e.Asked {
		return fmt.Sprintf("PULUMI_YAML_PLUGIN asks for the language plugin pulumi-language-%s, which was not found (looked in %s); "+
			"without the variable YAML programs need no plugin", e.Runtime, strings.Join(e.Looked, ", "))
	}
	meant := ""
	if name := Meant(e.Runtime); name != "" && name != e.Runtime {
		meant = fmt.Sprintf("; did you mean `runtime: %s`?", name)
	}
	text := fmt.Sprintf("programs with the runtime %q need the language plugin pulumi-language-%s, which was not found "+
		"(looked in %s); install it, or correct `runtime` in the project file (nodejs, bun, python, go, java and yaml need no plugin)%s",
		e.Runtime, e.Runtime, strings.Join(e.Looked, ", "), meant)
	if e.Acquiring != nil {
		text += "\n" + e.Acquiring.Error()
	}
	return text
}

// Choose returns how the program of a project is run: by a language plugin that runs already if PULUMI_DEBUG_LANGUAGES names
// one for its runtime ("go:12345,...", protocol.md 1.9), else by the language plugin if there is one, else directly (protocol.md
// 6.5). YAML programs are evaluated in this process unless their plugin is asked for. Errors are an
// *[UnsupportedRuntimeError], and those of a malformed environment or project. If a missing plugin may be installed, that is done
// when it is first used, and the first error is one of that use.
func Choose(runtime string, o Options) (source.Runtime, error) {
	if runtime == "yaml" && !wantsYAMLPlugin(o.Finder) {
		port, err := attached(runtime, o.Finder)
		if port == 0 {
			return yaml.Runtime{Options: yaml.Options{Providers: o.Providers, LookupEnv: lookupOf(o.Finder)}}, err
		}
	}
	r, err := hosted(runtime, o)
	if !errors.As(err, new(*UnsupportedRuntimeError)) {
		return r, err
	}
	if r := direct(runtime); r != nil {
		return r, nil
	}
	return nil, err
}

// hosted returns how a runtime is run by its language plugin.
func hosted(runtime string, o Options) (source.Runtime, error) {
	port, err := attached(runtime, o.Finder)
	if err != nil {
		return nil, err
	}
	if port != 0 {
		return language.Runtime{Options: language.Options{Port: port, Engine: o.Engine, Schemas: o.Schemas}}, nil
	}
	found, err := o.Finder.Find(plugin.Language, runtime, "")
	if err == nil {
		return language.Runtime{Options: language.Options{Executable: found.Executable, Version: found.Version, Engine: o.Engine, Schemas: o.Schemas, LogFlags: o.LogFlags}}, nil
	}
	if !errors.As(err, new(*plugin.MissingError)) {
		return nil, err
	}
	unsupported := UnsupportedRuntimeError{Runtime: runtime, Looked: places(o.Finder), Asked: runtime == "yaml"}
	if o.Acquire == nil || direct(runtime) != nil {
		return nil, &unsupported
	}
	return language.Runtime{Options: language.Options{Engine: o.Engine, Schemas: o.Schemas, LogFlags: o.LogFlags, Locate: func(ctx context.Context) (plugin.Location, error) {
		return acquired(ctx, runtime, o, unsupported)
	}}}, nil
}

// ChooseGenerator returns what generates SDKs of a language: its language plugin, also if programs run without it. For YAML programs
// none is needed. A missing plugin is installed if it is to be had by itself. The error is a *[source.NoGeneratorError] if there is none.
func ChooseGenerator(ctx context.Context, name string, o Options, said func(plugin.Line)) (source.Generator, error) {
	if name == "yaml" && !wantsYAMLPlugin(o.Finder) {
		if port, err := attached(name, o.Finder); port == 0 {
			return yaml.Generator{}, err
		}
	}
	g, err := Writer(ctx, name, o, said)
	var missing *plugin.MissingError
	if errors.As(err, &missing) {
		return nil, &source.NoGeneratorError{Language: name, WithPulumi: comesWithPulumi(name), Looked: places(o.Finder), Acquiring: missing.Acquiring}
	}
	return g, err
}

// comesWithPulumi reports whether the plugin of a language is part of Pulumi and not to be had by itself.
func comesWithPulumi(name string) bool { return name == "nodejs" || name == "python" || name == "go" }

// acquired returns where a language plugin is that is installed now.
func acquired(ctx context.Context, runtime string, o Options, unsupported UnsupportedRuntimeError) (plugin.Location, error) {
	l, err := o.Finder.FindOrAcquire(ctx, plugin.Wanted{Kind: plugin.Language, Name: runtime}, o.Acquire)
	var missing *plugin.MissingError
	if !errors.As(err, &missing) {
		return l, err
	}
	unsupported.Acquiring = missing.Acquiring
	return plugin.Location{}, &unsupported
}

// direct returns how a runtime is run without a language plugin, nil if that cannot be.
func direct(runtime string) source.Runtime {
	switch runtime {
	case "nodejs", "bun":
		return nodejs.Runtime{}
	case "go":
		return golang.Runtime{}
	case "python":
		return python.Runtime{}
	case "java":
		return java.Runtime{}
	}
	return nil
}

// Writer returns what writes programs in a language, from PCL: its language plugin, also if programs run without it. A missing
// plugin is installed if it is to be had by itself. Errors are a *[plugin.MissingError] if there is none.
func Writer(ctx context.Context, name string, o Options, said func(plugin.Line)) (language.Generator, error) {
	g := language.Generator{Language: name, Said: said}
	port, err := attached(name, o.Finder)
	if g.Engine, g.Port = o.Engine, port; err != nil || port != 0 {
		return g, err
	}
	if comesWithPulumi(name) {
		o.Acquire = nil
	}
	at, err := o.Finder.FindOrAcquire(ctx, plugin.Wanted{Kind: plugin.Language, Name: name}, o.Acquire)
	g.Executable = at.Executable
	return g, err
}

// StartPlugin starts a plugin that is written in a program language: by the language plugin if there is one that can do it,
// else directly. Errors are those of [StartHosted] and [StartDirect].
func StartPlugin(ctx context.Context, p source.Project, c source.PluginCommand, o Options) (plugin.Server, error) {
	server, err := StartHosted(ctx, p, c, o)
	if !errors.Is(err, source.ErrNoPlugins) && !errors.As(err, new(*UnsupportedRuntimeError)) {
		return server, err
	}
	server, directErr := StartDirect(ctx, p, c)
	if errors.Is(directErr, source.ErrNoPlugins) {
		return nil, err
	}
	return server, directErr
}

// StartHosted has the language plugin of its runtime start a plugin. Errors are an *[UnsupportedRuntimeError] if there is no
// language plugin, and [source.ErrNoPlugins] if it runs only programs.
func StartHosted(ctx context.Context, p source.Project, c source.PluginCommand, o Options) (plugin.Server, error) {
	r, err := hosted(p.Runtime, o)
	if err != nil {
		return nil, err
	}
	return r.StartPlugin(ctx, p, c)
}

// StartDirect starts a plugin without a language plugin. The error is [source.ErrNoPlugins] where that cannot be.
func StartDirect(ctx context.Context, p source.Project, c source.PluginCommand) (plugin.Server, error) {
	r := direct(p.Runtime)
	if r == nil {
		return nil, source.ErrNoPlugins
	}
	return r.StartPlugin(ctx, p, c)
}

// wantsYAMLPlugin reports whether a language plugin was asked for for YAML programs: the project names one, or
// PULUMI_YAML_PLUGIN is true. One that is merely installed is not used.
func wantsYAMLPlugin(f plugin.Finder) bool {
	named := slices.ContainsFunc(f.Project, func(p plugin.ProjectPlugin) bool { return p.Kind == plugin.Language && p.Name == "yaml" })
	asked, _ := lookupOf(f)("PULUMI_YAML_PLUGIN")
	return named || asked == "1" || strings.EqualFold(asked, "true")
}

func lookupOf(f plugin.Finder) func(string) (string, bool) {
	if f.LookupEnv != nil {
		return f.LookupEnv
	}
	return os.LookupEnv
}

func places(f plugin.Finder) []string {
	looked := []string{"the project's plugins", "$PATH"}
	if f.Bundled != "" {
		looked = append(looked, f.Bundled)
	}
	if f.Home != "" {
		looked = append(looked, filepath.Join(f.Home, "plugins"))
	}
	return looked
}

// attached returns the port of a language plugin that runs already, 0 when there is none.
func attached(runtime string, f plugin.Finder) (int, error) {
	list, _ := lookupOf(f)("PULUMI_DEBUG_LANGUAGES")
	for entry := range strings.SplitSeq(list, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(entry), ":")
		if name != runtime || name == "" {
			continue
		}
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return 0, fmt.Errorf("PULUMI_DEBUG_LANGUAGES: %q is not of the form <runtime>:<port>", entry)
		}
		return int(port), nil
	}
	return 0, nil
}
