package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/traces"
)

// globalFlags are the flags of all commands.
type globalFlags struct {
	open      *session.Opener
	completes bool // whether a shell asks for completions
	directory string
	log       logFlags
	profiling string // the beginning of the names of profiles; "" writes none
	profile   *profile
	traces    *traces.Traces // nil if there are none
	timing    timings
	ignored   ignoredFlags
}

// logFlags select what is logged.
type logFlags struct {
	verbosity        int
	toStandardError  bool
	flow             bool     // also log what plugins log
	file             *os.File // the log file; nil for the standard error
	traces, toServer string   // where traces are sent; both flags take the same URLs
}

// ignoredFlags are accepted for the sake of scripts, and have no effect.
type ignoredFlags struct {
	emoji  bool
	memory int
}

func (g *globalFlags) add(f *pflag.FlagSet) {
	t := g.open.Terminal
	f.StringVar(&t.Color, "color", "auto", "when to use colours: always, never, raw (as never) or auto (on a terminal)")
	f.StringVarP(&g.directory, "cwd", "C", "", "run as if sluice had been started in this directory")
	f.BoolVar(&t.NonInteractive, "non-interactive", false, "never prompt, even at a terminal")
	f.BoolVar(&g.open.SkipIntegrity, "disable-integrity-checking", false, "do not check that the state is consistent")
	f.BoolVarP(&g.open.FullNames, "fully-qualify-stack-names", "Q", false, "show stacks with their organization and project")
	f.IntVarP(&g.log.verbosity, "verbose", "v", 0, "from 1: log what the engine does to the standard error, without secrets; from 9: also the properties that providers are sent")
	f.BoolVar(&g.log.toStandardError, "logtostderr", false, "write the log to the standard error; -v 1 logs more")
	f.BoolVar(&g.log.flow, "logflow", false, "start plugins with the flags --logtostderr and -v of this command, so that they log too")
	f.StringVar(&g.profiling, "profiling", "", "write profiles of sluice to files with this prefix")
	f.StringVar(&g.log.toServer, "otel-traces", "", "send OpenTelemetry traces to this `URL`: file:PATH, grpc://, grpcs://, http:// or https://")
	f.StringVar(&g.log.traces, "tracing", "", "the same as --otel-traces")
	f.BoolVarP(&g.ignored.emoji, "emoji", "e", false, "accepted for scripts: there are no emojis")
	f.IntVar(&g.ignored.memory, "memprofilerate", 0, "accepted for scripts: the profile of the memory has the rate of Go")
	for _, name := range []string{"tracing", "emoji", "memprofilerate"} {
		_ = f.MarkHidden(name) // fails only for flags that do not exist
	}
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
	if err := g.startTraces(cmd); err != nil {
		return err
	}
	if err := g.log.open(t); err != nil {
		return err
	}
	t.Log, t.PluginFlags = g.log.logger(t), g.log.pluginFlags()
	// The arguments are not logged, because they may be secret.
	t.Log.Debug("command", "name", cmd.CommandPath(), "version", sluice.Version, "platform", runtime.GOOS+"/"+runtime.GOARCH)
	if g.profiling == "" {
		return nil
	}
	var err error
	if g.profile, err = startProfile(g.profiling); err != nil {
		return exit.Usagef("--profiling: %w", err)
	}
	return nil
}

// startTraces begins the traces of the command, if a flag requests them.
func (g *globalFlags) startTraces(cmd *cobra.Command) error {
	flag, to := "--otel-traces", g.log.toServer
	if to == "" {
		flag, to = "--tracing", g.log.traces
	}
	t := g.open.Terminal
	if err := g.timing.start(cmd.Flags()); err != nil {
		return err
	}
	o := traces.Options{URL: to, Version: sluice.Version, Lookup: t.Lookup, Sinks: g.timing.sinks()}
	ctx, started, err := traces.Start(cmd.Context(), cmd.CommandPath(), o)
	if errors.Is(err, traces.ErrAppdash) {
		t.Warn("%s: %v", flag, err) // scripts pass these flags, and work without traces
		o.URL, o.Lookup = "", func(string) (string, bool) { return "", false }
		ctx, started, err = traces.Start(cmd.Context(), cmd.CommandPath(), o)
	}
	switch {
	case err != nil:
		return exit.Usagef("%s: %w", flag, err)
	case started == nil:
		return nil
	}
	g.traces = started
	cmd.SetContext(ctx)
	for name, value := range started.Variables() {
		if err := os.Setenv(name, value); err != nil { // for all processes that the command starts
			return err
		}
	}
	return nil
}

// end closes the logs, profiles and traces of the command. failure is the error of the command.
func (g *globalFlags) end(failure error) error {
	if g.traces != nil {
		for _, err := range g.traces.End(failure != nil) {
			g.open.Terminal.Warn("%v", err)
		}
	}
	if err := g.timing.end(g.open.Terminal.Err); err != nil {
		g.open.Terminal.Warn("%v", err)
	}
	if err := g.log.close(g.open.Terminal); err != nil {
		g.open.Terminal.Warn("%v", err)
	}
	if g.profile == nil {
		return nil
	}
	return g.profile.end()
}

// open creates a log file for a command that stands in for Pulumi. Scripts find it by the last line of the standard error.
func (l *logFlags) open(t *terminal.Terminal) (err error) {
	if t.AsPulumi && l.verbosity > 0 && !l.toStandardError {
		l.file, err = os.CreateTemp("", "sluice-*.log")
	}
	return err
}

// close closes the log file, and prints its path.
func (l *logFlags) close(t *terminal.Terminal) error {
	if l.file == nil {
		return nil
	}
	fmt.Fprintf(t.Err, "The log file for this run is at %s\n", l.file.Name()) // scripts look for the words
	return l.file.Close()
}

// logger returns the log that the flags select.
func (l logFlags) logger(t *terminal.Terminal) *slog.Logger {
	out := t.Err
	if l.file != nil {
		out = l.file
	}
	switch {
	case l.verbosity >= 9:
		return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: sluice.LevelValues}))
	case l.verbosity > 0:
		return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	case l.toStandardError:
		return slog.New(slog.NewTextHandler(t.Err, &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	return slog.New(slog.DiscardHandler)
}

// pluginFlags returns Pulumi's arguments for plugins that log like this command.
func (l logFlags) pluginFlags() (out []string) {
	if l.flow && l.toStandardError {
		out = append(out, "--logtostderr")
	}
	if l.flow && l.verbosity > 0 {
		out = append(out, "-v="+strconv.Itoa(l.verbosity))
	}
	return out
}

func (g *globalFlags) enterDirectory() error {
	if g.directory == "" {
		return nil
	}
	return os.Chdir(g.directory)
}
