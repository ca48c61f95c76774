package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// newFlags are the flags of new.
type newFlags struct {
	name, description, stack, dir string
	secretsProvider               string
	settings                      flags.Settings
	force, yes, generateOnly      bool
	list                          bool
}

func newNewCommand(c *cli) *cobra.Command {
	f := &newFlags{}
	cmd := &cobra.Command{
		Use:     "new [TEMPLATE]",
		Aliases: []string{"create", "setup"},
		Short:   "Make a project and a stack from a template",
		Long: "Make a project from a template in an empty directory, make a stack for it, and install what the program needs.\n\n" +
			"  sluice new yaml\n" +
			"  sluice new typescript --name shop --dir shop --yes\n\n" +
			"The templates that come with sluice are listed by --list-templates. A folder with a Pulumi.yaml is a template, too:\n" +
			"${PROJECT} and ${DESCRIPTION} in its files are replaced, and the section `template` of its Pulumi.yaml may have\n" +
			"a description and the settings to ask for. Templates are not downloaded.\n\n" +
			"At a terminal you are asked for what is not given; --yes takes the defaults. If the stack cannot be made, no\n" +
			"file is left. If something cannot be installed, the project and the stack stay.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return c.listTemplates()
			}
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return c.newProject(cmd.Context(), name, f)
		},
	}
	p := cmd.Flags()
	p.StringVarP(&f.name, "name", "n", "", "the name of the project")
	p.StringVarP(&f.description, "description", "d", "", "the description of the project")
	p.StringVarP(&f.stack, "stack", "s", "", "the stack, which is made if there is none of that name (default dev)")
	p.StringVar(&f.dir, "dir", "", "where to put the project; made if need be (default the current directory)")
	p.StringVar(&f.secretsProvider, "secrets-provider", "default", "how secrets are encrypted: passphrase, default, which is the same, or the URL of a key service")
	f.settings.Add(p)
	p.BoolVarP(&f.force, "force", "f", false, "write into a directory that is not empty, over files that are there")
	p.BoolVarP(&f.yes, "yes", "y", false, "ask nothing and take the defaults")
	p.BoolVarP(&f.generateOnly, "generate-only", "g", false, "only write the files: make no stack and install nothing")
	p.BoolVarP(&f.list, "list-templates", "l", false, "list the templates that come with sluice")
	p.BoolP("offline", "o", false, "for Pulumi's sake: templates are never downloaded")
	p.Lookup("offline").Hidden = true
	return cmd
}

func (c *cli) listTemplates() error {
	var rows [][2]string
	for _, name := range templates.Names() {
		t, err := templates.Find(name)
		if err != nil {
			return err
		}
		rows = append(rows, [2]string{t.Name, t.Description})
	}
	return format.Table(c.Out, rows)
}

// creation is one project that is being made.
type creation struct {
	*cli
	flags     *newFlags
	template  *templates.Template
	directory string // absolute
	project   templates.Project
	stack     string
	asks      bool
}

// newProject makes a project. Everything that can be refused is refused before a file is written.
func (c *cli) newProject(ctx context.Context, template string, f *newFlags) error {
	n, err := c.startProject(ctx, template, f)
	if err != nil {
		return err
	}
	written, err := n.template.Write(n.directory, n.project, f.force)
	if err != nil {
		return err
	}
	before, err := os.Getwd()
	if err != nil {
		return err
	}
	undo := func() error { return errors.Join(os.Chdir(before), written.Undo()) }
	c.Undo(func() { _ = undo() }) // at a Ctrl-C at the question for a passphrase; there is nobody left to be told
	err = n.makeStack(ctx, written)
	c.Undo(nil)
	if err != nil {
		return errors.Join(err, undo())
	}
	if err := n.checkRuntime(); err != nil {
		return err
	}
	if !f.generateOnly {
		if err := n.install(ctx); err != nil {
			return err
		}
	}
	return n.sayWhatIsNext(before)
}

func (c *cli) startProject(ctx context.Context, template string, f *newFlags) (*creation, error) {
	n := &creation{cli: c, flags: f, asks: c.Interactive() && !f.yes}
	if !n.asks && !f.yes {
		return nil, exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
	}
	if f.name != "" && !workspace.IsProjectName(f.name) {
		return nil, exit.Usagef("--name: %w", projectNameError(f.name))
	}
	if !f.generateOnly {
		source := sluice.NewPassphrases(c.Lookup, nil).WithKeepers(cloud.Keepers())
		if err := sluice.CheckSecretsProvider(f.secretsProvider, source); err != nil {
			return nil, exit.Usagef("%w", err)
		}
	}
	var err error
	if n.template, err = n.chooseTemplate(template); err != nil {
		return nil, exit.AsUsage(err)
	}
	if n.directory, err = filepath.Abs(f.dir); err != nil {
		return nil, err
	}
	if err := checkEmpty(n.directory, f.force); err != nil {
		return nil, err
	}
	return n, n.askAll(ctx)
}

// checkEmpty refuses a directory with files in it. A repository without files is empty.
func checkEmpty(directory string, force bool) error {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return exit.Usagef("--dir: %w", err)
	}
	for _, e := range entries {
		if e.Name() != ".git" && !force {
			return exit.Usagef("%s is not empty: there is %s in it; name another directory with --dir, or use --force to write into this one",
				directory, e.Name())
		}
	}
	return nil
}

// makeStack makes the stack and its settings, or selects it if it is there. The working directory is that of the project.
func (n *creation) makeStack(ctx context.Context, written *templates.Written) error {
	if err := os.Chdir(n.directory); err != nil {
		return err
	}
	if n.flags.generateOnly {
		return nil
	}
	s, err := n.openProject(ctx)
	if err != nil {
		return err
	}
	ref, err := s.backend.Resolve(n.stack)
	if err != nil {
		return exit.AsUsage(err)
	}
	if err := written.Remember(s.project.StackFilePath(ref.Name)); err != nil {
		return err
	}
	err = s.open(ctx, ref)
	var missing *sluice.StackNotFoundError
	made := errors.As(err, &missing)
	switch {
	case made:
		err = s.init(ctx, n.stack, n.flags.secretsProvider)
	case err == nil:
		err = s.readFile("")
	}
	if err != nil {
		return err
	}
	if err := n.saveSettings(ctx, s); err != nil {
		if made {
			err = errors.Join(err, s.backend.Remove(ctx, s.ref, sluice.StackRemoval{Backups: true}))
		}
		return err
	}
	fmt.Fprintf(n.Out, "Created project '%s'\n", n.project.Name)
	if made {
		fmt.Fprintf(n.Out, "Created stack '%s'\n", s.name())
	}
	return s.selection.Select(s.ref.String())
}

func (n *creation) sayWhatIsNext(before string) error {
	var b strings.Builder
	if n.flags.generateOnly {
		fmt.Fprintf(&b, "Created project '%s'\n", n.project.Name)
	}
	b.WriteString("\nThe project is ready. To make what it declares:\n\n")
	if n.directory != before {
		to, err := filepath.Rel(before, n.directory)
		if err != nil {
			to = n.directory
		}
		fmt.Fprintf(&b, "    cd %s\n", to)
	}
	if n.flags.generateOnly {
		if tool, err := n.installer(); err == nil && tool != nil {
			for _, step := range tool.steps {
				fmt.Fprintf(&b, "    %s\n", strings.Join(step, " "))
			}
		}
		fmt.Fprintf(&b, "    sluice stack init %s\n", n.stack)
	}
	b.WriteString("    sluice up\n")
	_, err := fmt.Fprint(n.Out, b.String())
	return err
}
