package sluice

import (
	"os"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/source/policy"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/yaml"
)

// NewProgram returns the program of a project: run by the language plugin of its runtime if there is one, and directly
// otherwise, which is possible for Node.js, Python and Go (protocol.md 6.5). A YAML program is evaluated in this process unless the
// project or PULUMI_YAML_PLUGIN asks for its plugin; o says how the providers that know its types are started.
// Otherwise only the places of plugins, their Installer and the Engine service in o are used. The caller closes the program.
func NewProgram(files source.Project, o PluginOptions) (source.Program, error) {
	runtime, err := NewRuntime(files.Runtime, o)
	if err != nil {
		return nil, err
	}
	return runtime.Program(files), nil
}

// NewInlineProgram returns a program that consists of functions of another process, which serves it at a port of this machine as a
// language plugin would: the inline programs of the Automation API. That process is not stopped when the program is closed. Of o
// only the Engine service is used.
func NewInlineProgram(files source.Project, port int, o PluginOptions) source.Program {
	options := language.Options{Port: port, Inline: true}
	if o.Engine != nil {
		options.Engine = o.Engine
	}
	return language.New(files, options)
}

// NewRuntime returns what runs programs in a language, as [NewProgram] chooses it. name is that of the project file: "nodejs".
func NewRuntime(name string, o PluginOptions) (source.Runtime, error) {
	options := o.runtimes()
	options.Providers = yaml.ComponentHost(NewPluginHost(o), yaml.ComponentOptions{})
	return runtimes.Choose(name, options)
}

// NewYAMLProgram returns a YAML program (protocol.md section 11), which is evaluated in this process. host starts the
// providers whose schemas define the types, normally [Options].Providers. If it is nil, all types are taken as they are
// written.
func NewYAMLProgram(files source.Project, host providers.Host) source.Program {
	if host != nil {
		host = yaml.ComponentHost(host, yaml.ComponentOptions{})
	}
	return yaml.New(files, yaml.Options{Providers: host, LookupEnv: os.LookupEnv})
}

// OpenPolicyPack reads the manifest of the policy pack in a folder, and its configuration from a JSON file, whose name may
// be "". Each operation that has the pack in its [Options] starts it. Of o only the places of plugins, their Installer and the Engine
// service are used.
func OpenPolicyPack(directory, configFile string, o PluginOptions) (*policy.Pack, error) {
	options := policy.Options{Finder: o.Finder(), Acquire: o.acquire()}
	if o.Engine != nil {
		options.Engine = o.Engine
	}
	return policy.Open(directory, configFile, options)
}
