package newproject

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Options define the project to make.
type Options struct {
	Template          string // its name or folder; "" asks the user
	Name, Description string // of the project; "" asks the user or uses a default
	Stack             string
	Directory         string
	SecretsProvider   string
	Settings          flags.Settings
	RuntimeOptions    map[string]string // added to those of the template
	Force             bool              // overwrite existing files
	Yes               bool              // ask nothing
	GenerateOnly      bool              // make no stack and install nothing
}

// creation is a project that is being made.
type creation struct {
	open      *session.Opener
	terminal  *terminal.Terminal
	options   Options
	template  *templates.Template
	directory string // absolute
	project   templates.Project
	stack     string
	asks      bool
}

// New makes a project.
func New(ctx context.Context, open *session.Opener, f Options) error {
	n, err := start(ctx, open, f)
	if err != nil {
		return err
	}
	written, err := n.template.Write(n.directory, n.project, f.Force)
	if err != nil {
		return err
	}
	before, err := os.Getwd()
	if err != nil {
		return err
	}
	undo := func() error { return errors.Join(os.Chdir(before), written.Undo()) }
	err = makeStack(ctx, n, written)
	if err != nil {
		return errors.Join(err, undo())
	}
	p, options, runs, err := program(n)
	if err != nil {
		return err
	}
	if !f.GenerateOnly && runs {
		if err := install(ctx, n, p, options); err != nil {
			return err
		}
	}
	return sayWhatIsNext(n, before)
}

func start(ctx context.Context, open *session.Opener, f Options) (*creation, error) {
	t := open.Terminal
	n := &creation{open: open, terminal: t, options: f, asks: isAttended(t) && !f.Yes}
	if !n.asks && !f.Yes {
		return nil, exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
	}
	if f.Name != "" && !workspace.IsProjectName(f.Name) {
		return nil, exit.Usagef("--name: %w", projectNameError(f.Name))
	}
	if !f.GenerateOnly {
		source := secrets.NewSource(n.terminal.Lookup, nil).WithKeepers(cloud.Keepers())
		if err := secrets.CheckProvider(f.SecretsProvider, source); err != nil {
			return nil, exit.Usagef("%w", err)
		}
	}
	var err error
	if n.template, n.directory, err = templateAndPlace(ctx, t, templates.Projects(), f.Template, n.asks, f.Directory, f.Force); err != nil {
		return nil, err
	}
	return n, askAll(ctx, n)
}

// isAttended reports whether somebody answers questions. PULUMI_TEST_INTERACTIVE is set by a script that writes the answers to the
// standard input, line by line.
func isAttended(t *terminal.Terminal) bool {
	return t.Interactive() || t.EnvIsTrue("PULUMI_TEST_INTERACTIVE")
}

// templateAndPlace chooses a template, and returns the absolute path of the folder for what is made of it, which has to be empty unless force
// is true.
func templateAndPlace(
	ctx context.Context, t *terminal.Terminal, kind templates.Kind, name string, asks bool, folder string, force bool,
) (template *templates.Template, directory string, err error) {
	if template, err = chooseTemplate(ctx, t, kind, name, asks); err != nil {
		return nil, "", exit.AsUsage(err)
	}
	if directory, err = filepath.Abs(folder); err != nil {
		return nil, "", err
	}
	return template, directory, checkEmpty(directory, force)
}

// checkEmpty refuses a directory with files. A repository without files counts as empty.
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

// sayWhatIsNext prints how to continue.
func sayWhatIsNext(n *creation, before string) error {
	var b strings.Builder
	if n.options.GenerateOnly {
		fmt.Fprintf(&b, "Created project '%s'\n", n.project.Name)
	}
	command := n.terminal.Command()
	b.WriteString("\nThe project is ready. To make what it declares:\n\n")
	if n.directory != before {
		to, err := filepath.Rel(before, n.directory)
		if err != nil {
			to = n.directory
		}
		fmt.Fprintf(&b, "    cd %s\n", to)
	}
	if n.options.GenerateOnly {
		fmt.Fprintf(&b, "    %s install\n", command)
		fmt.Fprintf(&b, "    %s stack init %s\n", command, n.stack)
	}
	fmt.Fprintf(&b, "    %s up\n", command)
	_, err := fmt.Fprint(n.terminal.Out, b.String())
	return err
}
