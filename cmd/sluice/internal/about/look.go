package about

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/advise"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/internal/platform/build"
	"github.com/sluice-iac/sluice/source/engine"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
)

// noStack begins the error of a report without a stack. Scripts look for it.
const noStack = "Failed to get information about the current stack"

// Look returns a report about stack, or about the selected stack if stack is "". It adds all failures to the errors of
// the report.
func Look(ctx context.Context, open *session.Opener, stack string) *Report {
	a := &Report{
		CLI: cliReport{
			Version: sluice.Version, PulumiVersion: engine.CompatibilityVersion, GoVersion: runtime.Version(), GoCompiler: runtime.Compiler, Commit: build.Revision(),
		},
		Host:             hostReport{OS: runtime.GOOS, Arch: runtime.GOARCH},
		BuiltinProviders: host.BuiltinProviders(),
		Plugins:          []pluginReport{}, Environment: variables(), Errors: []string{},
	}
	report := func(err error) {
		if err != nil {
			a.Errors = append(a.Errors, open.Terminal.Named(advise.Text(err)))
		}
	}
	home, err := stateworkspace.Home(open.Terminal.Lookup)
	report(err)
	a.Home = home
	project, err := session.FindProject()
	if err != nil && (!errors.Is(err, workspace.ErrNoProject) || stack != "") {
		report(err)
	}
	options := host.PluginOptions{Home: home, LookupEnv: open.Terminal.Lookup}
	if project != nil {
		a.Project = &projectReport{Name: project.Name, Description: project.Description, Runtime: project.Runtime, File: project.Path}
		options.ProjectPlugins = session.ProjectPlugins(project)
		a.Errors = append(a.Errors, project.Warnings...)
	}
	installed := host.InstalledPlugins(options)
	for _, p := range installed {
		a.Plugins = append(a.Plugins, pluginReport{
			Kind: string(p.Kind), Name: p.Name, Version: p.Version, Path: p.Location.Path(), Source: string(p.Location.Source),
		})
	}
	a.Runtimes = lookAtRuntimes(ctx, a.Project, installed)
	for i := range a.Runtimes {
		if a.Project != nil && a.Runtimes[i].Language == a.Project.Runtime {
			a.Runtime = &a.Runtimes[i]
		}
	}
	if a.Runtime != nil && a.Runtime.How != runsNot { // the report has the missing tool already
		a.Runtime.Tools, err = askRuntime(ctx, project, options)
		report(err)
	}
	a.Backend, err = lookAtBackend(ctx, open.Terminal, home, project)
	report(err)
	if project != nil && a.Backend != nil && err == nil {
		if a.Stack, err = lookAtStack(ctx, open, stack); err != nil {
			report(fmt.Errorf("%s: %w", noStack, err))
		}
	}
	return a
}
