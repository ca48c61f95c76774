package newproject

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// PolicyOptions define the policy pack to make.
type PolicyOptions struct {
	Template     string // its name or folder; "" asks the user
	Directory    string
	Force        bool // overwrite existing files
	GenerateOnly bool // install nothing
	// RuntimeOptions are added to those of the template.
	RuntimeOptions map[string]string
}

// NewPolicyPack makes a policy pack. Its name is that of the folder.
func NewPolicyPack(ctx context.Context, t *terminal.Terminal, o PolicyOptions) error {
	template, directory, err := templateAndPlace(ctx, t, templates.Policies(), o.Template, t.Interactive(), o.Directory, o.Force)
	if err != nil {
		return err
	}
	pack := templates.Project{
		Name: workspace.ProjectNameFrom(filepath.Base(directory)), Description: template.ProjectDescription, RuntimeOptions: o.RuntimeOptions,
	}
	if _, err := template.Write(directory, pack, o.Force); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "Created policy pack '%s'\n", pack.Name)
	if !o.GenerateOnly {
		if err := InstallPolicyPack(ctx, t, directory); err != nil {
			return fmt.Errorf("%w\nthe policy pack is made; run `sluice policy install` in %s before you use it", err, directory)
		}
	}
	if o.GenerateOnly {
		fmt.Fprintf(t.Out, t.Named("To install what it needs, run `sluice policy install %s`\n"), format.ShellQuote(directory))
	}
	_, err = fmt.Fprintf(t.Out, "\nThe policy pack is ready. To check a program with it, run in the folder of its project:\n\n    %s preview --policy-pack %s\n",
		t.Command(), format.ShellQuote(directory))
	return err
}

// InstallPolicyPack installs the dependencies of the policy pack in a folder.
func InstallPolicyPack(ctx context.Context, t *terminal.Terminal, directory string) error {
	return installWhatItNeeds(ctx, t, directory, plugin.PolicyManifest)
}
