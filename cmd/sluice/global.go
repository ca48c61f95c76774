package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

// globalFlags are the flags of all commands.
type globalFlags struct {
	open      *session.Opener
	directory string
}

func (g *globalFlags) add(f *pflag.FlagSet) {
	t := g.open.Terminal
	f.StringVar(&t.Color, "color", "auto", "when to use colours: always, never, raw (as never) or auto (on a terminal)")
	f.StringVarP(&g.directory, "cwd", "C", "", "run as if sluice had been started in this directory")
	f.BoolVar(&t.NonInteractive, "non-interactive", false, "ask nothing, even on a terminal")
	f.BoolVar(&g.open.SkipIntegrity, "disable-integrity-checking", false, "do not check that the state is consistent")
}

// apply sets the flags of a command from the environment, and changes to the directory of --cwd.
func (g *globalFlags) apply(cmd *cobra.Command) error {
	t := g.open.Terminal
	if err := flags.FromEnvironment(cmd.Flags(), t.Lookup); err != nil {
		return err
	}
	switch t.Color {
	case "always", "never", "raw", "auto":
	default:
		return exit.Usagef("unsupported color option %q: --color is always, never, raw or auto", t.Color) // scripts look for the first words
	}
	if err := g.enterDirectory(); err != nil {
		return exit.Usagef("--cwd: %w", err)
	}
	return nil
}

func (g *globalFlags) enterDirectory() error {
	if g.directory == "" {
		return nil
	}
	return os.Chdir(g.directory)
}
