package newproject

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	acquisition "github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source"
)

// program returns the program of the project. runs reports whether a runtime for it is on the machine, or may be installed. If not,
// it prints a warning. The working directory is that of the project.
func program(n *creation) (p source.Project, options host.PluginOptions, runs bool, err error) {
	project, err := session.FindProject()
	if err != nil {
		return p, options, false, err
	}
	if options, err = dependencies.Options(n.terminal, project); err != nil {
		return p, options, false, err
	}
	directory, entry, err := source.Locate(project.Directory(), project.Main)
	if err != nil {
		return p, options, false, err
	}
	p = source.Project{Runtime: project.Runtime, Options: project.RuntimeOptions, Root: project.Directory(), Directory: directory, Entry: entry}
	there := options
	if n.terminal.EnvIsTrue(acquisition.AcquisitionVariable) {
		there.Installer = nil
	}
	if _, err := host.NewRuntime(p.Runtime, there); err != nil {
		n.terminal.Warn("%v", err)
		return p, options, false, nil
	}
	return p, options, true, nil
}

// install installs the `packages` of the project, and the dependencies of the program.
func install(ctx context.Context, n *creation, p source.Project, options host.PluginOptions) error {
	err := packages.InstallHere(ctx, n.terminal)
	if err == nil {
		err = dependencies.Install(ctx, n.terminal, p, options)
	}
	if err != nil {
		return fmt.Errorf("%w\nthe project and the stack are made; run `sluice install` in %s before `sluice up`", err, n.directory)
	}
	return nil
}

// installWhatItNeeds installs the dependencies of the policy pack or plugin in a folder, which has this manifest.
func installWhatItNeeds(ctx context.Context, t *terminal.Terminal, directory, manifest string) error {
	m, err := source.ReadManifest(directory, manifest)
	if err != nil {
		return exit.AsUsage(err)
	}
	options, err := dependencies.Options(t, nil)
	if err != nil {
		return err
	}
	return dependencies.Install(ctx, t, m.Project(directory), options)
}
