package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/source/loader"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/source/yaml"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state/backend"
)

// NewProgram returns the program of a project: run by the language plugin of its runtime if there is one, and directly
// otherwise, which is possible for Node.js, Python and Go ([protocol.md 6.5]). A YAML program is evaluated in this process unless the
// project or PULUMI_YAML_PLUGIN asks for its plugin; o says how the providers that know its types are started.
// Otherwise only the places of plugins, their Installer and the service of a host ([Host.Options]) are used. The caller closes the program.
//
// [protocol.md 6.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#65-which-way
func NewProgram(files source.Project, o PluginOptions) (source.Program, error) {
	runtime, err := NewRuntime(files.Runtime, o)
	if err != nil {
		return nil, err
	}
	return runtime.Program(files), nil
}

// WithProgramIn returns o with the program of a directory. The project file is that of the directory, or of the nearest one above
// it. WithProgramIn sets Project, Root, Directory and Program, and uses the name, runtime and main of the project file. The caller
// closes the program. p is as for [NewProgram], but if o has providers, they define the types of a YAML program: set Providers
// before.
func WithProgramIn(o sluice.Options, directory string, p PluginOptions) (sluice.Options, error) {
	file, err := source.FindProject(directory)
	if err != nil {
		return o, err
	}
	root := filepath.Dir(file)
	m, err := source.ReadManifest(root, filepath.Base(file))
	if err != nil {
		return o, err
	}
	if m.Name == "" {
		return o, fmt.Errorf("%s has no name; add `name: my-project`", file)
	}
	files := m.Project(root)
	if files.Directory, files.Entry, err = source.Locate(root, m.Main); err != nil {
		return o, err
	}
	runtime, err := newRuntime(files.Runtime, p, o.Providers)
	if err != nil {
		return o, err
	}
	o.Project, o.Root, o.Directory, o.Program = m.Name, root, files.Directory, runtime.Program(files)
	return o, nil
}

// NewInlineProgram returns a program that consists of functions of another process, which serves it at a port of this machine as a
// language plugin would: the inline programs of the Automation API. That process is not stopped when the program is closed. Of o
// only the service of a host is used.
func NewInlineProgram(files source.Project, port int, o PluginOptions) source.Program {
	options := language.Options{Port: port, Inline: true}
	if o.service != nil {
		options.Engine, options.Schemas = o.service, o.service
	}
	return language.New(files, options)
}

// NewRuntime returns the runtime of a language, as [NewProgram] chooses it. name is its name in project files, such as "nodejs".
func NewRuntime(name string, o PluginOptions) (tooling.Runtime, error) {
	return newRuntime(name, o, nil)
}

// newRuntime is NewRuntime with a host for the providers that define the types of YAML programs; nil is that of the plugins: of the [Host] if o is
// from one.
func newRuntime(name string, o PluginOptions, host providers.Host) (tooling.Runtime, error) {
	options := o.runtimes()
	switch {
	case host != nil:
	case o.service != nil:
		host = o.service.plugins
	default:
		host = NewPluginHost(o)
	}
	options.Providers = yaml.ComponentHost(host, yaml.ComponentOptions{})
	return runtimes.Choose(name, options)
}

// NewYAMLProgram returns a YAML program ([protocol.md 11]), which is evaluated in this process. host starts the
// providers whose schemas define the types, normally those of [sluice.Options]. If it is nil, all types are taken as they are
// written.
//
// [protocol.md 11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#11-yaml-programs
func NewYAMLProgram(files source.Project, host providers.Host) source.Program {
	if host != nil {
		host = yaml.ComponentHost(host, yaml.ComponentOptions{})
	}
	return yaml.New(files, yaml.Options{Providers: host, LookupEnv: os.LookupEnv})
}

// NewYAMLText is [NewYAMLProgram] for the text of a program. Relative paths in it are relative to the directory of the process.
func NewYAMLText(text string, host providers.Host) source.Program {
	if host != nil {
		host = yaml.ComponentHost(host, yaml.ComponentOptions{})
	}
	return yaml.New(source.Project{Runtime: "yaml"}, yaml.Options{Text: text + "\n", Providers: host, LookupEnv: os.LookupEnv})
}

// OpenPolicyPack reads the manifest of the policy pack in a folder, and its configuration from the JSON file configFile, which may
// be "". Each operation that has the pack in its [sluice.Options] starts it. Only the places of plugins, their Installer and the
// Engine service of o are used.
func OpenPolicyPack(directory, configFile string, o PluginOptions) (*policy.Pack, error) {
	return policy.Open(directory, configFile, o.policies())
}

// OpenRequiredPolicyPack returns a policy pack that an organization requires for its stacks. If necessary, it downloads the pack
// and its dependencies into Home of o. environment has variables for the process of the pack, "NAME=value".
func OpenRequiredPolicyPack(
	ctx context.Context, organization string, r backend.RequiredPolicy, environment []string, o PluginOptions,
) (*policy.Pack, error) {
	home := filepath.Join(o.Home, "sluice", "policies", organization)
	remote := policy.Remote{Name: r.Name, ID: r.ID, Open: r.Fetch}
	directory, there := remote.Installed(home)
	if !there {
		if o.Note != nil {
			o.Note(fmt.Sprintf("installing the policy pack %s %s, which the organization %s requires", r.Name, r.Version, organization))
		}
		var err error
		if directory, err = remote.Install(ctx, NewInstaller(install.Options{Home: home, LookupEnv: o.LookupEnv}, o)); err != nil {
			return nil, fmt.Errorf("the policy pack %s %s, which the organization %s requires, cannot be installed, and without it nothing is done: %w",
				r.Name, r.Version, organization, err)
		}
	}
	options := o.policies()
	options.Required = &policy.Required{Config: r.Config, Environment: environment}
	return policy.Open(directory, "", options)
}

// SDKGenerator generates SDKs of packages for one language. Make one with [NewSDKGenerator].
type SDKGenerator struct {
	generator tooling.Generator
	host      *Host
	loader    *loader.Server
}

// NewSDKGenerator returns a generator of SDKs for a language: "nodejs", "python", "go", "java", "dotnet" and so on need their
// language plugin, "yaml" does not. known are schemas of packages that have no provider, as JSON. output gets the output of the
// language plugin; nil discards. Close must be called.
func NewSDKGenerator(ctx context.Context, language string, known [][]byte, o PluginOptions, output func(plugin.Line)) (*SDKGenerator, error) {
	options := loader.Options{Warn: o.Warn}
	for _, text := range known {
		s, err := tooling.ReadPackageSchema(text)
		if err != nil {
			return nil, err
		}
		options.Known = append(options.Known, loader.Known{Package: s.Name, Version: s.Version, Schema: string(text)})
	}
	h := Open(ctx, o)
	generator, err := runtimes.ChooseGenerator(ctx, language, h.options.runtimes(), output)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	g := &SDKGenerator{generator: generator, host: h}
	options.Providers = SchemaHost(h.Plugins)
	g.loader = loader.NewServer(ctx, options)
	return g, nil
}

// Generate writes an SDK. The remarks are about its schema; if one of them is an error, there is no SDK.
func (g *SDKGenerator) Generate(ctx context.Context, sdk tooling.SDK) ([]tooling.Remark, error) {
	address, err := g.loader.Address()
	if err != nil {
		return nil, err
	}
	return g.generator.Generate(ctx, sdk, address)
}

// Link makes a program use SDKs, and returns instructions for importing them.
func (g *SDKGenerator) Link(ctx context.Context, p source.Project, list []tooling.LinkedSDK) (string, error) {
	address, err := g.loader.Address()
	if err != nil {
		return "", err
	}
	return g.generator.Link(ctx, p, list, address)
}

// Close ends the processes of the generator.
func (g *SDKGenerator) Close() error { return errors.Join(g.loader.Close(), g.host.Close()) }

// ServeComponents is [source.ComponentServer.ServeComponents], for hosts of plugins whose components may be written in YAML.
func ServeComponents(next providers.Host, p source.Project, monitor func() stages.Monitor) providers.Host {
	return yaml.ComponentHost(next, yaml.ComponentOptions{Options: yaml.Options{LookupEnv: os.LookupEnv}, Project: p, Monitor: monitor})
}

// SchemaHost returns a host for [providers.Schema]: it starts plugins through next, and serves components that are written in YAML.
func SchemaHost(next providers.Host) providers.Host {
	return yaml.ComponentHost(next, yaml.ComponentOptions{})
}
