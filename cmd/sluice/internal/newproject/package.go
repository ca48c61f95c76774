package newproject

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/providers/plugin"
)

// PackageOptions define the package to make.
type PackageOptions struct {
	Template          string // its name or folder; "" asks the user
	Name, Description string // "" asks the user, or takes the default
	Directory         string
	Force             bool // overwrite existing files
	GenerateOnly      bool // install nothing
	Yes               bool // ask nothing
}

// packageName matches the names of packages, which are parts of types.
var packageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_-]{0,99}$`) })

func checkPackageName(name string) error {
	if !packageName().MatchString(name) || name == "pulumi" || strings.HasPrefix(name, "pulumi-") {
		return exit.Usagef("%q is not a name for a package: use up to 100 lower-case letters, digits, hyphens and underscores, a letter first, and not "+
			"the prefix pulumi-", name)
	}
	return nil
}

// packageNameFrom makes a name of that of a folder.
func packageNameFrom(folder string) string {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_-", r) {
			return r
		}
		return -1
	}, strings.ToLower(folder))
	if name = strings.TrimLeft(name, "0123456789_-"); checkPackageName(name) != nil {
		return "package"
	}
	return name
}

// NewPackage makes a package of components.
func NewPackage(ctx context.Context, t *terminal.Terminal, o PackageOptions) error {
	asks := t.Interactive() && !o.Yes
	template, directory, err := templateAndPlace(ctx, t, templates.Packages(), o.Template, asks, o.Directory, o.Force)
	if err != nil {
		return err
	}
	p := templates.Project{Name: o.Name, Description: cmp.Or(o.Description, template.ProjectDescription)}
	if otherwise := packageNameFrom(filepath.Base(directory)); p.Name == "" {
		p.Name = otherwise
		if asks {
			answer, err := t.Ask(ctx, fmt.Sprintf("The name of the package (%s): ", otherwise))
			if err != nil {
				return err
			}
			p.Name = cmp.Or(answer, otherwise)
		}
	}
	if err := checkPackageName(p.Name); err != nil {
		return err
	}
	if _, err := template.Write(directory, p, o.Force); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "Created package '%s'\n", p.Name)
	if !o.GenerateOnly {
		if err := installWhatItNeeds(ctx, t, directory, plugin.PluginManifest); err != nil {
			return fmt.Errorf("%w\nthe package is made; `sluice package add` installs what it needs, too", err)
		}
	}
	_, err = fmt.Fprintf(t.Out, "\nThe package is ready. To use it, run in the folder of a project:\n\n    %s package add %s\n",
		t.Command(), format.ShellQuote(directory))
	return err
}
