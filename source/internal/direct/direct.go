// Package direct runs the process of a program that speaks to the monitor itself, without a language plugin in between,
// and reports how it ended (protocol.md 6.2, 6.3).
//
// It contains nothing about particular languages.
//
// Invariant: a program that did not succeed leads to an error.
package direct

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
)

// reported is the exit code of a program that has sent the reason of its failure to the Engine service.
const reported = 32

// Command is the process to run.
type Command struct {
	Executable string
	Args       []string
	Env        []string // added to the engine's environment
	// Hint may explain a failure from the last output; nil explains nothing.
	Hint func(output string) string
	// Debugger is the debugger that the process waits for, nil if it does not wait for one.
	Debugger *Debugger
}

// Run runs the process in the program's directory and shows its output. Errors are those of source.Program.Run; that of
// an unexpected end is a *source.ProgramExitError.
func Run(ctx context.Context, host source.Host, p source.Project, c Command) error {
	exit, err := plugin.Run(ctx, plugin.Command{
		Name:        p.Program(),
		Executable:  c.Executable,
		Args:        c.Args,
		Directory:   p.Directory,
		Environment: append(os.Environ(), c.Env...),
		Intercept:   c.Debugger.Interceptor(),
		Output:      Forward(Log(ctx, host), p.Program()),
	})
	if err != nil {
		return err
	}
	return Ended(p, exit, c.Hint)
}

// Log returns a function that logs messages for the stack.
func Log(ctx context.Context, host source.Host) func(stages.LogMessage) {
	return func(m stages.LogMessage) { host.Monitor.Log(ctx, m) }
}

// Ended returns the error of a program whose process has ended, nil if it was successful. hint may explain a failure from the last output;
// nil explains nothing.
func Ended(p source.Project, exit plugin.Exit, hint func(output string) string) error {
	switch exit.Code {
	case 0:
		return nil
	case reported:
		return fmt.Errorf("%s: %w", p.Program(), source.ErrReported)
	}
	failure := &source.ProgramExitError{Program: p.Program(), Status: exit.Status, Code: exit.Code, Output: terminal.Plain(exit.Output)}
	if hint != nil {
		failure.Hint = hint(exit.Output)
	}
	return failure
}

// Addresses returns the addresses of the monitor and of the Engine service for a program that is started without a language plugin; engine
// is "" if there is no such service. The SDKs of such programs can dial Unix sockets.
func Addresses(host source.Host, p source.Project) (monitor, engine string, err error) {
	if monitor, err = host.MonitorService.SocketAddress(); err == nil && host.Engine != nil {
		engine, err = host.Engine.SocketAddress()
	}
	if err != nil {
		return "", "", fmt.Errorf("let %s call the engine: %w", p.Program(), err)
	}
	return monitor, engine, nil
}

// Forward returns a function that logs lines of output: standard output as information, standard error as information on the error stream,
// each stream with a number of its own (protocol.md 1.7). A line in several pieces becomes several messages, of which only the last ends
// with a newline.
func Forward(log func(stages.LogMessage), name string) func(plugin.Line) {
	out, errs := terminal.StreamID(name+" stdout"), terminal.StreamID(name+" stderr")
	return func(l plugin.Line) {
		message := stages.LogMessage{Severity: stages.Info, Message: terminal.Plain(l.Text), StreamID: out}
		if l.Stderr {
			message.Severity, message.StreamID = stages.InfoErr, errs
		}
		if !l.Cut && !l.Rest && strings.TrimSpace(message.Message) == "" {
			return
		}
		if !l.Cut {
			message.Message += "\n"
		}
		log(message)
	}
}

// Environment returns the environment variables with the addresses of the engine, the stack and its configuration, for SDKs that read no
// flags (protocol.md 6.3).
func Environment(p source.Project, monitor, engine string, info stages.RunInfo) ([]string, error) {
	env, err := ConfigEnv(info)
	if err != nil {
		return nil, err
	}
	return append(env,
		"PULUMI_MONITOR="+monitor,
		"PULUMI_ENGINE="+engine,
		"PULUMI_ORGANIZATION="+info.Organization,
		"PULUMI_PROJECT="+info.Project,
		"PULUMI_STACK="+info.Stack,
		"PULUMI_ROOT_DIRECTORY="+p.Root,
		"PULUMI_DRY_RUN="+strconv.FormatBool(info.DryRun),
		"PULUMI_PARALLEL="+strconv.Itoa(max(1, info.Parallel)),
	), nil
}

// ConfigEnv returns the environment variables with the configuration of programs.
func ConfigEnv(info stages.RunInfo) ([]string, error) {
	config, keys := info.Config, info.ConfigSecretKeys
	if config == nil {
		config = map[string]string{}
	}
	if keys == nil {
		keys = []string{}
	}
	values, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("encode the configuration: %w", err)
	}
	secrets, err := json.Marshal(keys)
	if err != nil {
		return nil, fmt.Errorf("encode the names of secret configuration: %w", err)
	}
	return []string{"PULUMI_CONFIG=" + string(values), "PULUMI_CONFIG_SECRET_KEYS=" + string(secrets)}, nil
}
