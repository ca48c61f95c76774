package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
)

func newInstallCommand(t *terminal.Terminal) *cobra.Command {
	var f installHereFlags
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the plugins, SDKs and dependencies of the project",
		Long: "Install the dependencies of the project: generate the SDKs of the packages that Pulumi.yaml names, as\n" +
			"`sluice package add` does; install the plugins of the program, as `sluice plugin install` does; and install the\n" +
			"dependencies of the program with the package manager of its language: npm, pnpm, yarn or bun, pip, uv or poetry, go,\n" +
			"Maven or Gradle. The output of the package manager is shown.\n\n" +
			"In the folder of a policy pack or of a plugin in source form, install the dependencies of that.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return installHere(cmd.Context(), t, f)
		},
	}
	p := cmd.Flags()
	p.BoolVar(&f.noDependencies, "no-dependencies", false, "do not install the dependencies of the program")
	p.BoolVar(&f.noPlugins, "no-plugins", false, "do not install plugins, and generate no SDKs")
	p.BoolVar(&f.reinstall, "reinstall", false, "install plugins again")
	p.Bool("use-language-version-tools", false, "accepted for scripts")
	p.Int("parallel", 0, "accepted for scripts")
	for _, name := range []string{"use-language-version-tools", "parallel"} {
		_ = p.MarkHidden(name) // fails only for flags that do not exist
	}
	return cmd
}

type installHereFlags struct{ noDependencies, noPlugins, reinstall bool }

// installHere installs what the program, policy pack or plugin of the working directory needs, and the plugins of a program.
func installHere(ctx context.Context, t *terminal.Terminal, f installHereFlags) error {
	p, isPlugin, options, err := programHere(t)
	if err != nil {
		return err
	}
	if !f.noPlugins {
		if err := packages.InstallHere(ctx, t); err != nil {
			return err
		}
	}
	if !f.noDependencies {
		if err := dependencies.Install(ctx, t, p, options); err != nil {
			return err
		}
	}
	if f.noPlugins || isPlugin {
		return nil
	}
	places, err := plugins.Find(t)
	if err != nil {
		return err
	}
	return installNeeded(ctx, places, installFlags{reinstall: f.reinstall})
}

// programHere returns what is written in a program language here: the policy pack or plugin of the working directory, else the
// program of the project. isPlugin is true for the former two.
func programHere(t *terminal.Terminal) (p source.Project, isPlugin bool, options host.PluginOptions, err error) {
	options, err = dependencies.Options(t, nil)
	if err != nil {
		return source.Project{}, false, options, err
	}
	here, err := os.Getwd()
	if err != nil {
		return source.Project{}, false, options, err
	}
	for _, name := range []string{plugin.PolicyManifest, plugin.PluginManifest} {
		m, err := source.ReadManifest(here, name)
		if err == nil {
			return m.Project(here), true, options, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return source.Project{}, false, options, exit.AsUsage(err)
		}
	}
	project, err := session.FindProject()
	if err != nil {
		return source.Project{}, false, options, err
	}
	for _, w := range project.Warnings {
		t.Warn("%s", w)
	}
	if options, err = dependencies.Options(t, project); err != nil {
		return source.Project{}, false, options, err
	}
	directory, entry, err := source.Locate(project.Directory(), project.Main)
	if err != nil {
		return source.Project{}, false, options, exit.AsUsage(fmt.Errorf("%s: %w", filepath.Base(project.Path), err))
	}
	return source.Project{
		Runtime: project.Runtime, Options: project.RuntimeOptions, Root: project.Directory(), Directory: directory, Entry: entry,
	}, false, options, nil
}
