package sluice

import (
	"os"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/yaml"
)

type (
	// Program is something that declares resources.
	Program = source.Program
	// ProgramFunc is a program that is a Go function.
	ProgramFunc = source.Func
	// ProgramFiles say where the program of a project is and how it is run.
	ProgramFiles = source.Project
)

// LocateProgram returns the directory and the entry point of a program, from the directory of the project file and the
// project's "main", which may be empty.
func LocateProgram(root, main string) (directory, entry string, err error) {
	return source.Locate(root, main)
}

// NewProgram returns the program of a project: run by the language plugin of its runtime if there is one, and directly
// otherwise, which is possible for Node.js and Go (protocol.md 6.5). A YAML program is evaluated in this process unless the
// project or PULUMI_YAML_PLUGIN asks for its plugin; o says how the providers are started that know its types. Of o the
// places of plugins and the Engine service count otherwise. The caller closes the program.
func NewProgram(files ProgramFiles, o PluginOptions) (Program, error) {
	options := runtimes.Options{Finder: plugin.Finder{
		Project: o.ProjectPlugins, Home: o.Home, LookupEnv: o.LookupEnv, Warn: o.Warn,
	}, Providers: yaml.ComponentHost(NewPluginHost(o), yaml.ComponentOptions{})}
	if o.Engine != nil {
		options.EngineAddress = o.Engine.Address()
	}
	return runtimes.Choose(files, options)
}

// NewYAMLProgram returns a YAML program (protocol.md section 11), which is evaluated in this process. host starts the
// providers whose schemas say what types there are, normally [Options].Providers; nil takes all types as they are written.
func NewYAMLProgram(files ProgramFiles, host providers.Host) Program {
	if host != nil {
		host = yaml.ComponentHost(host, yaml.ComponentOptions{})
	}
	return yaml.New(files, yaml.Options{Providers: host, LookupEnv: os.LookupEnv})
}
