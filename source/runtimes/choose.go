// Package runtimes chooses how a program runs: through a language plugin, or directly if no plugin is needed.
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
	"github.com/sluice-iac/sluice/internal/text/similar"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/golang"
	"github.com/sluice-iac/sluice/source/java"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/source/nodejs"
	"github.com/sluice-iac/sluice/source/python"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/source/yaml"
)

// Options are the inputs of a choice besides the project.
type Options struct {
	// Finder finds language plugins.
	Finder plugin.Finder
	// Acquire installs a missing language plugin of a program; nil installs none.
	Acquire plugin.Acquire
	// Engine is the Engine service; nil when there is none.
	Engine source.Service
	// Schemas serves the Loader and the Mapper; nil when there are none.
	Schemas source.Service
	// LogFlags are the first arguments of language plugins and converters, which make them log.
	LogFlags []string
	// Providers starts the providers whose schemas a YAML program needs; nil when there are none.
	Providers providers.Host
}

// UnsupportedRuntimeError reports that there is no way to run a program.
type UnsupportedRuntimeError struct {
	Runtime string
	Looked  []string // the places where a language plugin was searched
	Asked   bool     // the runtime needs no plugin, but the user requires one
	// Acquiring is the reason why the plugin could not be installed, nil if no installation was tried.
	Acquiring error
}

// Unwrap returns the reason why the plugin could not be installed.
func (e *UnsupportedRuntimeError) Unwrap() error { return e.Acquiring }

// Advice returns the advice to install the plugin, unless the name is likely that of another runtime.
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

// Choose returns the runtime for the program of a project: a language plugin that runs already if PULUMI_DEBUG_LANGUAGES names one for its
// runtime ("go:12345,...", [protocol.md 1.9]), else the language plugin if there is one, else one without a plugin ([protocol.md 6.5]). YAML
// programs are evaluated in this process unless the user requires their plugin. The error is an *[UnsupportedRuntimeError], or reports a
// malformed environment or project. A missing plugin that may be installed is installed at its first use, which then returns the error.
//
// [protocol.md 1.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#19-attaching
// [protocol.md 6.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#65-which-way
func Choose(runtime string, o Options) (tooling.Runtime, error) {
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

// hosted returns the language plugin of a runtime.
func hosted(runtime string, o Options) (tooling.Runtime, error) {
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

// ChooseGenerator returns the generator of SDKs for a language: its language plugin, even if programs run without it. YAML programs need
// none. A missing plugin is installed if it is available separately. The error is a *[tooling.NoGeneratorError] if there is none.
func ChooseGenerator(ctx context.Context, name string, o Options, output func(plugin.Line)) (tooling.Generator, error) {
	if name == "yaml" && !wantsYAMLPlugin(o.Finder) {
		if port, err := attached(name, o.Finder); port == 0 {
			return yaml.Generator{}, err
		}
	}
	g, err := Writer(ctx, name, o, output)
	var missing *plugin.MissingError
	if errors.As(err, &missing) {
		return nil, &tooling.NoGeneratorError{Language: name, WithPulumi: comesWithPulumi(name), Looked: places(o.Finder), Acquiring: missing.Acquiring}
	}
	return g, err
}

// comesWithPulumi reports whether the plugin of a language is part of Pulumi and not available separately.
func comesWithPulumi(name string) bool { return name == "nodejs" || name == "python" || name == "go" }

// acquired returns the place of a language plugin, which it may install.
func acquired(ctx context.Context, runtime string, o Options, unsupported UnsupportedRuntimeError) (plugin.Location, error) {
	l, err := o.Finder.FindOrAcquire(ctx, plugin.Wanted{Kind: plugin.Language, Name: runtime}, o.Acquire)
	var missing *plugin.MissingError
	if !errors.As(err, &missing) {
		return l, err
	}
	unsupported.Acquiring = missing.Acquiring
	return plugin.Location{}, &unsupported
}

// direct returns the runtime that works without a language plugin, nil if there is none.
func direct(runtime string) tooling.Runtime {
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

// Writer returns the generator of programs in a language, from PCL: its language plugin, even if programs run without it. A missing plugin
// is installed if it is available separately. The error is a *[plugin.MissingError] if there is none.
func Writer(ctx context.Context, name string, o Options, output func(plugin.Line)) (language.Generator, error) {
	g := language.Generator{Language: name, Output: output}
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

// StartPlugin starts a plugin in source form: through the language plugin if that runs plugins, else directly. Errors are those of
// [StartHosted] and [StartDirect].
func StartPlugin(ctx context.Context, p source.Project, c tooling.PluginCommand, o Options) (plugin.Server, error) {
	server, err := StartHosted(ctx, p, c, o)
	if !errors.Is(err, tooling.ErrNoPlugins) && !errors.As(err, new(*UnsupportedRuntimeError)) {
		return server, err
	}
	server, directErr := StartDirect(ctx, p, c)
	if errors.Is(directErr, tooling.ErrNoPlugins) {
		return nil, err
	}
	return server, directErr
}

// StartHosted starts a plugin through the language plugin of its runtime. The error is an *[UnsupportedRuntimeError] if there is no
// language plugin, and [tooling.ErrNoPlugins] if it runs only programs.
func StartHosted(ctx context.Context, p source.Project, c tooling.PluginCommand, o Options) (plugin.Server, error) {
	r, err := hosted(p.Runtime, o)
	if err != nil {
		return nil, err
	}
	return r.StartPlugin(ctx, p, c)
}

// StartDirect starts a plugin without a language plugin. The error is [tooling.ErrNoPlugins] if the runtime does not support that.
func StartDirect(ctx context.Context, p source.Project, c tooling.PluginCommand) (plugin.Server, error) {
	r := direct(p.Runtime)
	if r == nil {
		return nil, tooling.ErrNoPlugins
	}
	return r.StartPlugin(ctx, p, c)
}

// wantsYAMLPlugin reports whether the user requires a language plugin for YAML programs: the project names one, or PULUMI_YAML_PLUGIN is
// true. A plugin that is merely installed is not used.
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

// Meant returns the runtime that name likely stands for, "" if there is none.
func Meant(name string) string {
	name = strings.ToLower(name)
	switch name {
	case "node", "node.js", "typescript", "ts", "javascript", "js":
		return "nodejs"
	case "golang":
		return "go"
	case "py", "python3":
		return "python"
	case "csharp", "c#", ".net", "net":
		return "dotnet"
	case "yml":
		return "yaml"
	}
	return similar.Name(name, []string{"nodejs", "bun", "python", "go", "java", "yaml", "dotnet"})
}
