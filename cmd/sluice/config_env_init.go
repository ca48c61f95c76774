package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/environments"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/backend"
)

// environmentInit are the flags of the command.
type environmentInit struct {
	name                   string
	showSecrets, keep, yes bool
}

func newConfigEnvInitCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var i environmentInit
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create an environment from the settings of a stack",
		Long: "Create an environment from the settings of a stack, in the organization of the stack, and use it in their place.\n" +
			"Secret settings are secret in the environment. The settings are removed from the configuration file, unless\n" +
			"--keep-config is given.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !i.yes && !open.Terminal.Interactive() {
				return exit.Usagef("--yes must be passed in to proceed when running in non-interactive mode")
			}
			s, err := open.Stack(cmd.Context(), f.Name, f.ConfigFile)
			if err != nil {
				return err
			}
			return i.run(cmd.Context(), s)
		},
	}
	cmd.Flags().StringVar(&i.name, "env", "", "the name of the environment, as project/name or name (default the names of the project and the stack)")
	cmd.Flags().BoolVar(&i.showSecrets, "show-secrets", false, "show secret values of resources that would be created")
	cmd.Flags().BoolVar(&i.keep, "keep-config", false, "keep the settings in the configuration file, where they take precedence over the environment")
	cmd.Flags().BoolVarP(&i.yes, "yes", "y", false, "make the environment without asking")
	return cmd
}

// run makes the environment, and then changes the configuration file.
func (i environmentInit) run(ctx context.Context, s *session.Stack) error {
	b, has := s.Session.Backend.(backend.Environments)
	if !has {
		return errors.New("only Pulumi's service has environments; use a stack of the service")
	}
	name := i.fullName(s)
	definition, shown, err := i.define(ctx, s)
	if err != nil {
		return err
	}
	if _, err := environments.Define(ctx, s, definition, environments.Query{}); err != nil {
		return err
	}
	fmt.Fprintf(s.Session.Terminal.Out, "The environment %s of the organization %s will be:\n%s", name, s.Ref.Organization(), shown)
	if !i.yes {
		confirmed, err := terminal.Confirm(ctx, s.Session.Terminal, "Make it?")
		if err == nil && !confirmed {
			err = errors.New("confirmation declined; nothing was made")
		}
		if err != nil {
			return err
		}
	}
	// From here on, an interrupt undoes or completes the change.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := b.CreateEnvironment(ctx, s.Ref.Organization(), name, definition); err != nil {
		return err
	}
	if err := i.use(s, name); err != nil {
		return fmt.Errorf("the environment %s was made, and the stack does not use it yet (`sluice config env add %s` changes that): %w", name, name, err)
	}
	return nil
}

// use replaces the settings in the configuration file by the name of the environment.
func (i environmentInit) use(s *session.Stack, name string) error {
	if err := s.Settings.Environments.Add([]string{name}); err != nil {
		return err
	}
	if !i.keep {
		if err := s.Settings.Replace(nil); err != nil {
			return err
		}
	}
	return s.Settings.Save()
}

// fullName returns the name of the environment, prefixed with that of its project.
func (i environmentInit) fullName(s *session.Stack) string {
	project, name, full := strings.Cut(i.name, "/")
	if !full {
		project, name = "", i.name
	}
	return cmp.Or(project, s.Session.Project.Name) + "/" + cmp.Or(name, s.Ref.Name)
}

// define returns the definition of the environment, and the form of it that is shown.
func (i environmentInit) define(ctx context.Context, s *session.Stack) (definition, shown []byte, err error) {
	values := s.Settings.Values()
	if len(values) == 0 {
		return nil, nil, exit.Usagef("%s has no settings to make an environment of", s.Settings.Path)
	}
	var dec workspace.Decrypter
	if workspace.AnySealed(values) {
		if dec, err = session.SettingsDecrypter(ctx, s); err != nil {
			return nil, nil, err
		}
		if err := workspace.OpenAhead(ctx, dec, maps.Values(values)); err != nil {
			return nil, nil, err
		}
	}
	if definition, err = environments.DefinitionOf(ctx, values, dec); err != nil || i.showSecrets {
		return definition, definition, err
	}
	shown, err = environments.DefinitionOf(ctx, values, nil)
	return definition, shown, err
}
