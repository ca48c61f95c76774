package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
)

func newPluginRunCommand(t *terminal.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run KIND NAME [VERSION] [-- ARGUMENT...]",
		Short: "Run a plugin's program, for debugging and for tools",
		Long: "Run the program of a plugin with the given arguments, in this terminal and with its exit status. A plugin that is\n" +
			"missing is installed. A provider needs the address of an engine and serves until it is interrupted; tools do\n" +
			"something useful.",
		Example: "  sluice plugin run tool thing -- --help\n  sluice plugin run resource random 4.18.0 -- -version",
		RunE: func(cmd *cobra.Command, args []string) error {
			named, rest := args, []string(nil)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				named, rest = args[:at], args[at:]
			}
			if err := rangeArgs(2, 3)(cmd, named); err != nil {
				return err
			}
			return runPlugin(cmd.Context(), t, named, rest)
		},
	}
	return cmd
}

func runPlugin(ctx context.Context, t *terminal.Terminal, named, args []string) error {
	kind, err := pluginKind(named[0])
	if err != nil {
		return err
	}
	w := plugin.Wanted{Kind: kind, Name: named[1]}
	if len(named) == 3 {
		w.Version = strings.TrimPrefix(named[2], "v")
	}
	places, err := plugins.Find(t)
	if err != nil {
		return err
	}
	at, err := places.Finder().FindOrAcquire(ctx, w, func(ctx context.Context, w plugin.Wanted) error {
		return places.Install(ctx, []install.Request{{Kind: w.Kind, Name: w.Name, Version: w.Version}})
	})
	if err != nil {
		return err
	}
	// Ctrl-C is for the plugin, which is in the same group of processes; its status is the answer.
	_, forget := signal.NotifyContext(ctx, os.Interrupt)
	defer forget()
	process := exec.CommandContext(ctx, at.Executable, args...)
	process.Stdin, process.Stdout, process.Stderr = t.In, t.Out, terminal.Direct(t.Err)
	err = process.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() >= 0 {
		return &exit.Error{Status: ended.ExitCode(), Err: err, Quiet: true}
	}
	return err
}
