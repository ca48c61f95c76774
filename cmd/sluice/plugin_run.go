package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/internal/text/similar"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/source/tooling"
)

func newPluginRunCommand(t *terminal.Terminal) *cobra.Command {
	var kind string
	cmd := &cobra.Command{
		Use:   "run KIND NAME [VERSION] [-- ARGUMENT...]",
		Short: "Run a plugin's program, for debugging and for tools",
		Long: "Run the program of a plugin with the given arguments, in this terminal and with its exit status. A missing plugin is\n" +
			"installed. This is useful for tools, and for debugging: a provider needs the address of an engine and serves until it\n" +
			"is interrupted. Tools find the schemas and mappings of the engine at the address in PULUMI_RPC_TARGET.\n\n" +
			"`run [--kind KIND] NAME[@VERSION]|FOLDER [ARGUMENT]...` does the same; without a kind, the plugin is a tool.",
		Example: "  sluice plugin run tool thing -- --help\n  sluice plugin run ./my-tool\n" +
			"  sluice plugin run resource random 4.18.0 -- -version",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := pluginRunOf(cmd, kind, args)
			if err != nil {
				return err
			}
			return r.run(cmd.Context(), t)
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "", "the kind of the plugin, for the second form")
	return cmd
}

// pluginRun is a plugin to run.
type pluginRun struct {
	plugin.Wanted
	folder string // of a plugin that needs no search
	args   []string
}

// pluginRunOf reads the arguments, which have two forms.
func pluginRunOf(cmd *cobra.Command, kind string, args []string) (pluginRun, error) {
	named, rest := args, []string(nil)
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		named, rest = args[:at], args[at:]
	}
	first, known := plugin.Kind(kind), error(nil)
	if kind == "" && len(named) > 0 {
		first, known = pluginKind(named[0])
	}
	if kind == "" && known == nil {
		if err := rangeArgs(2, 3)(cmd, named); err != nil {
			return pluginRun{}, err
		}
		r := pluginRun{Wanted: plugin.Wanted{Kind: first, Name: named[1]}, args: rest}
		if len(named) == 3 {
			r.Version = strings.TrimPrefix(named[2], "v")
		}
		return r, nil
	}
	if kind == "" && len(named) > 0 && !isPath(named[0]) && similar.Name(named[0], pluginKinds()) != "" {
		return pluginRun{}, known
	}
	if kind == "" {
		first = plugin.Tool
	} else if _, err := pluginKind(kind); err != nil {
		return pluginRun{}, err
	}
	if len(named) == 0 {
		return pluginRun{}, exit.Usagef("name the plugin: `%s --kind %s NAME`", cmd.CommandPath(), first)
	}
	r := pluginRun{Wanted: plugin.Wanted{Kind: first}, args: args[1:]}
	if isPath(named[0]) {
		var err error
		r.folder, err = filepath.Abs(named[0])
		r.Name = filepath.Base(r.folder)
		return r, err
	}
	r.Name, r.Version, _ = strings.Cut(named[0], "@")
	r.Version = strings.TrimPrefix(r.Version, "v")
	return r, nil
}

// isPath reports whether an argument names the folder of a plugin, not the plugin.
func isPath(name string) bool { return filepath.IsAbs(name) || strings.HasPrefix(name, ".") }

func (run pluginRun) run(ctx context.Context, t *terminal.Terminal) error {
	places, err := plugins.Find(t)
	if err != nil {
		return err
	}
	at, written, err := run.find(ctx, places)
	if err != nil {
		return err
	}
	options := places.Options()
	if options.Directory, err = os.Getwd(); err != nil {
		return err
	}
	h := host.Open(ctx, options)
	defer func() { _ = h.Close() }() // its error changes nothing
	address, err := h.Service.Address()
	if err != nil {
		return err
	}
	environment := append(os.Environ(), "PULUMI_RPC_TARGET="+address)
	// Ctrl-C is for the plugin, which is in the same process group; its status is returned.
	interrupted, forget := signal.NotifyContext(ctx, os.Interrupt)
	defer forget()
	f := &tooling.Foreground{Out: t.Out, Err: t.Err, Run: func(c plugin.Command) (int, error) { return foreground(ctx, t, c) }}
	if written != "" {
		err = h.Options().RunWritten(interrupted, plugin.Written{
			Kind: run.Kind, Name: run.Name, Directory: written, Args: run.args, Environment: environment,
		}, f)
	} else {
		f.Status, err = foreground(ctx, t, plugin.Command{Executable: at, Args: run.args, Environment: environment})
	}
	if err == nil && f.Status != 0 {
		return &exit.Error{Status: f.Status, Err: fmt.Errorf("the plugin exited with status %d", f.Status), Quiet: true}
	}
	return err
}

// find returns the executable of the plugin, or the folder of one in source form.
func (run pluginRun) find(ctx context.Context, places *plugins.Places) (executable, written string, err error) {
	if run.folder != "" {
		if info, err := os.Stat(run.folder); err != nil || !info.IsDir() {
			return run.folder, "", err
		}
		if _, err := os.Stat(filepath.Join(run.folder, plugin.Manifest(run.Kind))); err != nil || plugin.Manifest(run.Kind) == "" {
			return "", "", exit.Usagef("%s is not a plugin in source form: it has no %s", run.folder, cmp.Or(plugin.Manifest(run.Kind), plugin.PluginManifest))
		}
		return "", run.folder, nil
	}
	at, err := places.Finder().FindOrAcquire(ctx, run.Wanted, func(ctx context.Context, w plugin.Wanted) error {
		if err := places.Installer.Forbidden(); err != nil {
			return err
		}
		return places.Install(ctx, []install.Request{{Kind: w.Kind, Name: w.Name, Version: w.Version}})
	})
	var hosted *plugin.LanguageHostedError
	if errors.As(err, &hosted) {
		return "", hosted.Directory, nil
	}
	return at.Executable, "", err
}

// foreground runs a process in this terminal and returns its status.
func foreground(ctx context.Context, t *terminal.Terminal, c plugin.Command) (int, error) {
	process := exec.CommandContext(ctx, c.Executable, c.Args...)
	process.Dir, process.Env = c.Directory, c.Environment
	err := t.Lend(ctx, func(p terminal.Process) error {
		process.Stdin, process.Stdout, process.Stderr = p.In, p.Out, p.Err
		return process.Run()
	})
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() >= 0 {
		return ended.ExitCode(), nil
	}
	return 0, err
}
