package newproject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
)

func projectNameError(name string) error {
	return fmt.Errorf("%q is not a project name; use up to 100 letters, digits, underscores, periods and hyphens", name)
}

// chooseTemplate finds the template, or asks the user to choose one.
func chooseTemplate(ctx context.Context, t *terminal.Terminal, kind templates.Kind, name string, asks bool) (*templates.Template, error) {
	if name == "" && !asks {
		return nil, fmt.Errorf("missing template: write one of %s, or the path of a folder", strings.Join(kind.Names(), ", "))
	}
	if name != "" {
		return kind.Find(name)
	}
	names := kind.Names()
	answers := make([]string, len(names))
	for i, known := range names {
		found, err := kind.Find(known)
		if err != nil {
			return nil, err
		}
		answers[i] = fmt.Sprintf("%-10s  %s", found.Name, found.Description)
	}
	if t.Drawable() {
		at, err := terminal.Choose(ctx, t, "Which template?", answers, 0)
		if err != nil {
			return nil, err
		}
		return kind.Find(names[at])
	}
	for i, a := range answers {
		fmt.Fprintf(t.Out, "%3d  %s\n", i+1, a)
	}
	for { // unlike a list to choose from, a line can contain the path of a folder
		answer, err := t.Ask(ctx, fmt.Sprintf("Which template? [number, name or folder] (%s): ", names[0]))
		if err != nil {
			return nil, err
		}
		found, err := kind.Find(terminal.ByNumber(cmp.Or(answer, names[0]), names))
		if err == nil {
			return found, nil
		}
		fmt.Fprintln(t.Err, err)
	}
}

// askAll requests the name, description, stack and runtime options that are missing.
func askAll(ctx context.Context, n *creation) error {
	f := n.options
	n.stack = cmp.Or(f.Stack, "dev")
	name := f.Name
	if parts := strings.Split(f.Stack, "/"); name == "" && len(parts) == 3 {
		name = parts[1] // organization/project/stack
	}
	n.project = templates.Project{
		Name:        cmp.Or(name, workspace.ProjectNameFrom(filepath.Base(n.directory))),
		Description: cmp.Or(f.Description, n.template.ProjectDescription),
	}
	for otherwise := n.project.Name; ; {
		if name == "" && n.asks {
			var err error
			if n.project.Name, err = askDefault(ctx, n, "The name of the project", otherwise); err != nil {
				return err
			}
		}
		problem := checkName(ctx, n)
		if problem == nil {
			break
		}
		if name != "" || !n.asks {
			return problem
		}
		fmt.Fprintln(n.terminal.Err, problem)
	}
	if n.asks {
		if err := askAboutProject(ctx, n); err != nil {
			return err
		}
	}
	var err error
	n.project.RuntimeOptions, err = chooseRuntimeOptions(ctx, n)
	return err
}

// askAboutProject requests the description and the stack, unless they are given.
func askAboutProject(ctx context.Context, n *creation) error {
	f := n.options
	var err error
	if f.Description == "" {
		if n.project.Description, err = askDefault(ctx, n, "The description of the project", n.project.Description); err != nil {
			return err
		}
	}
	if f.Stack == "" && !f.GenerateOnly {
		n.stack, err = askDefault(ctx, n, "The name of the stack", n.stack)
	}
	return err
}

// checkName refuses the name of another project that has stacks, because the two projects would share them.
func checkName(ctx context.Context, n *creation) error {
	name := n.project.Name
	if !workspace.IsProjectName(name) {
		return exit.Usagef("%w", projectNameError(name))
	}
	if n.options.GenerateOnly || n.options.Force {
		return nil
	}
	home, err := stateworkspace.Home(n.terminal.Lookup)
	if err != nil {
		return err
	}
	url, err := host.BackendURL(home, "", n.terminal.Lookup)
	if err != nil {
		return err
	}
	b, err := host.OpenBackend(ctx, host.BackendOptions{URL: url, Project: name, LookupEnv: n.terminal.Lookup, Stores: cloud.Stores()})
	if err != nil {
		return err
	}
	stacks, err := b.Stacks(ctx, backend.Filter{Project: name})
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	for _, l := range stacks {
		if l.Ref.Project != name {
			continue // it is in a backend without projects
		}
		if n.options.Stack != "" && (n.options.Stack == l.Ref.Name || n.options.Stack == l.Ref.String()) {
			return nil // the user has chosen that stack
		}
		return exit.Usagef("there are stacks of a project named %q already, such as %q, and this project would share them; "+
			"choose another name with --name, or use that stack with --stack %[2]s", name, l.Ref.Name)
	}
	return nil
}

func askDefault(ctx context.Context, n *creation, question, otherwise string) (string, error) {
	answer, err := n.terminal.Ask(ctx, fmt.Sprintf("%s (%s): ", question, otherwise))
	return cmp.Or(answer, otherwise), err
}
