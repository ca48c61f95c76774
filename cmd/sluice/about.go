package main

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func newAboutCommand(c *cli) *cobra.Command {
	var stack string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "about",
		Short: "Print what sluice is, and what it finds here",
		Long: "Print the version, the project, the stack and the backend of this directory, and the runtimes, plugins and\n" +
			"built-in providers that there are: what is worth saying when something does not work. Nothing is started but\n" +
			"`node --version` and `go version`. What cannot be found out is a warning and never fails. Secrets are not\n" +
			"shown.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a := c.about(cmd.Context(), stack)
			if asJSON {
				return format.JSON(c.Out, a)
			}
			return c.writeAbout(a)
		},
	}
	cmd.Flags().BoolVarP(&asJSON, "json", "j", false, "write JSON")
	cmd.Flags().StringVarP(&stack, "stack", "s", "", "the stack; the selected one if not given")
	return cmd
}

// about is what sluice finds in a directory. The keys are those of Pulumi's report, where that has them.
type about struct {
	CLI              cliAbout       `json:"cliAbout"`
	Host             hostAbout      `json:"host"`
	Project          *projectAbout  `json:"project"`      // null outside of projects
	Stack            *stackAbout    `json:"currentStack"` // null when none is selected
	Backend          *backendAbout  `json:"backend"`
	Home             string         `json:"home"`
	Runtime          *runtimeAbout  `json:"runtime"` // that of the project
	Runtimes         []runtimeAbout `json:"runtimes"`
	Plugins          []pluginAbout  `json:"plugins"`
	BuiltinProviders []string       `json:"builtinProviders"`
	Environment      []string       `json:"environment"` // names of variables, whose values may be secret
	Errors           []string       `json:"errors"`
}

type cliAbout struct {
	Version       string `json:"version"`
	PulumiVersion string `json:"pulumiVersion"` // what it behaves as
	GoVersion     string `json:"goVersion"`
	GoCompiler    string `json:"goCompiler"`
	Commit        string `json:"commit,omitempty"`
}

type hostAbout struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

type projectAbout struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Runtime     string `json:"runtime"`
	File        string `json:"file"`
}

type stackAbout struct {
	Name       string          `json:"name"`
	FullName   string          `json:"fullyQualifiedName"`
	Resources  []resourceAbout `json:"resources"`
	PendingOps []resourceAbout `json:"pendingOps"`
}

type resourceAbout struct {
	Type string `json:"type"`
	URN  string `json:"urn"`
}

type backendAbout struct {
	URL           string   `json:"url"`
	User          string   `json:"user"`
	Organizations []string `json:"organizations"`
}

type pluginAbout struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path"`
	Source  string `json:"source"` // project, path, cache
}

// about looks around. Whatever fails is written into its errors.
func (c *cli) about(ctx context.Context, stack string) about {
	a := about{
		CLI: cliAbout{
			Version: sluice.Version, PulumiVersion: sluice.PulumiVersion, GoVersion: runtime.Version(), GoCompiler: runtime.Compiler, Commit: commit(),
		},
		Host:             hostAbout{OS: runtime.GOOS, Arch: runtime.GOARCH},
		BuiltinProviders: sluice.BuiltinProviders(),
		Plugins:          []pluginAbout{}, Environment: c.settings(), Errors: []string{},
	}
	report := func(err error) {
		if err != nil {
			a.Errors = append(a.Errors, err.Error())
		}
	}
	home, err := sluice.Home(c.Lookup)
	report(err)
	a.Home = home
	project, err := findProject()
	if err != nil && (!errors.Is(err, workspace.ErrNoProject) || stack != "") {
		report(err)
	}
	options := sluice.PluginOptions{Home: home, LookupEnv: c.Lookup}
	if project != nil {
		a.Project = &projectAbout{Name: project.Name, Description: project.Description, Runtime: project.Runtime, File: project.Path}
		options.ProjectPlugins = projectPlugins(project)
		a.Errors = append(a.Errors, project.Warnings...)
	}
	installed := sluice.InstalledPlugins(options)
	for _, p := range installed {
		a.Plugins = append(a.Plugins, pluginAbout{
			Kind: string(p.Kind), Name: p.Name, Version: p.Version, Path: p.Location.Executable, Source: string(p.Location.Source),
		})
	}
	a.Runtimes = runtimesAbout(ctx, a.Project, installed)
	for i := range a.Runtimes {
		if a.Project != nil && a.Runtimes[i].Language == a.Project.Runtime {
			a.Runtime = &a.Runtimes[i]
		}
	}
	a.Backend, err = c.backendAbout(ctx, home, project)
	report(err)
	if project != nil && a.Backend != nil && err == nil {
		a.Stack, err = c.stackAbout(ctx, stack)
		report(err)
	}
	return a
}

// backendAbout names the backend; the error says why it cannot be opened.
func (c *cli) backendAbout(ctx context.Context, home string, project *workspace.Project) (*backendAbout, error) {
	var named, name string
	if project != nil {
		named, name = project.BackendURL, project.Name
	}
	url, err := sluice.BackendURL(home, named, c.Lookup)
	if err != nil {
		return nil, err
	}
	who := c.identity(url)
	out := &backendAbout{URL: who.URL, User: who.User, Organizations: who.Organizations}
	b, err := sluice.OpenBackend(ctx, sluice.BackendOptions{URL: url, Project: name, LookupEnv: c.Lookup, Stores: cloud.Stores()})
	if err != nil {
		return out, err
	}
	return out, b.Close()
}

// stackAbout describes a stack, nil when none is selected. No passphrase is needed.
func (c *cli) stackAbout(ctx context.Context, name string) (*stackAbout, error) {
	s, err := c.openProject(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if name, err = s.selected(); err != nil || name == "" {
			return nil, err
		}
	}
	ref, err := s.choose(name)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx, ref); err != nil {
		return nil, err
	}
	out := &stackAbout{Name: s.name(), FullName: s.ref.String(), Resources: []resourceAbout{}, PendingOps: []resourceAbout{}}
	snapshot, err := s.stack.LoadSealed(ctx)
	if err != nil || snapshot == nil {
		return out, err
	}
	for _, r := range snapshot.Resources {
		out.Resources = append(out.Resources, resourceAbout{Type: string(r.Type), URN: string(r.URN)})
	}
	for _, op := range snapshot.Pending {
		out.PendingOps = append(out.PendingOps, resourceAbout{Type: string(op.Resource.Type), URN: string(op.Resource.URN)})
	}
	return out, nil
}

// commit is the revision that the program was built from, "" when the build did not record it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " with changes"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}
