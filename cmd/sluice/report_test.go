package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/secrets/secretstest"
)

func TestExitStatuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("p/Pulumi.yaml", "name: demo\nruntime: fake\n")
	write("bad/Pulumi.yaml", "name: [\n")
	write("empty/x", "")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "backend"), 0o755))
	env := map[string]string{
		"PULUMI_HOME": dir + "/home", "PULUMI_BACKEND_URL": "file://" + dir + "/backend", "PULUMI_CONFIG_PASSPHRASE": "x", "HOME": dir,
	}
	call := func(in, where string, args ...string) (status int, out, errs string) {
		t.Chdir(filepath.Join(dir, where))
		var stdout, stderr bytes.Buffer
		status = run(t.Context(), args, terminal.Streams{
			In: strings.NewReader(in), Out: &stdout, Err: &stderr, Width: func() int { return 80 },
			Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		}, secretstest.CheapKeys{})
		return status, stdout.String(), stderr.String()
	}
	status, _, errs := call("", "p", "stack", "init", "dev")
	require.Zero(t, status, errs)
	for name, c := range map[string]struct {
		where  string
		args   string
		status int
		says   string
	}{
		"help":                 {"empty", "--help", 0, ""},
		"unknown flag":         {"p", "up --planet x", exit.Usage, "unknown flag"},
		"unknown letter":       {"p", "up -Z", exit.Usage, "unknown shorthand flag: 'Z' in -Z"},
		"flag without a value": {"p", "up --parallel", exit.Usage, "flag needs an argument: --parallel"},
		"no number":            {"p", "up -p many", exit.Usage, `error: invalid argument "many" for --parallel: write a whole number` + "\n"},
		"too large a number":   {"p", "up -p 99999999999999999999", exit.Usage, `error: invalid argument "99999999999999999999" for --parallel: the number is too large` + "\n"},
		"no boolean":           {"p", "up --refresh=perhaps", exit.Usage, `error: invalid argument "perhaps" for --refresh: write true, false or changed` + "\n"},
		"no such form":         {"p", "up --display=wide", exit.Usage, `error: invalid argument "wide" for --display: write tree, log, events or quiet` + "\n"},
		"exclusive flags":      {"p", "recover --discard --adopt a=b", exit.Usage, "error: --discard and --adopt cannot be used together\n"},
		"unknown subcommand":   {"p", "help frobnicate", exit.Usage, "unknown command"},
		"unknown shell":        {"p", "completion csh", exit.Usage, "unknown command"},
		"missing argument":     {"p", "config get", exit.Usage, "error: missing argument\nusage: sluice config get <key> [flags]\n"},
		"unknown command":      {"p", "frobnicate", exit.Usage, "unknown command"},
		"no project":           {"empty", "preview", exit.Usage, "no Pulumi.yaml"},
		"update nowhere":       {"empty", "up", exit.Usage, "no Pulumi.yaml"},
		"destroy nowhere":      {"empty", "destroy", exit.Usage, "no Pulumi.yaml"},
		"refresh nowhere":      {"empty", "refresh -s dev", exit.Usage, "--yes or --skip-preview"},
		"malformed project":    {"bad", "preview", exit.Usage, "Pulumi.yaml:1: "},
		"no confirmation":      {"p", "up", exit.Usage, "--yes or --skip-preview"},
		"destroy, the same":    {"p", "destroy", exit.Usage, "--yes or --skip-preview"},
		"unknown stack":        {"p", "up -y -s nope", exit.NoStack, "no stack named 'nope'"},
		"config of no stack":   {"p", "config -s nope", exit.NoStack, "no stack named 'nope'"},
		"stack exists":         {"p", "stack init dev", exit.Failure, "already exists"},
		"impossible name":      {"p", "stack init a/b/c/d", exit.Usage, "must have the form"},
		"missing output":       {"p", "stack output x", exit.Failure, "does not have output property"},
		"missing setting":      {"p", "config get x", exit.Failure, "not found for stack 'dev'"},
		"bad colour":           {"p", "--color pink version", exit.Usage, "--color is always"},
		"no language plugin":   {"p", "preview", exit.Failure, "pulumi-language-fake"},
		"too many arguments":   {"p", "config get a b", exit.Usage, "error: unexpected argument \"b\"\nusage: sluice config get <key> [flags]\n"},
		"no such backend":      {"p", "login gopher://x", exit.Usage, `unknown scheme "gopher"`},
		"no path to watch":     {"p", "watch --path nowhere", exit.Usage, "--path: "},
		"nothing to cancel":    {"p", "cancel --yes", 0, ""},
		"cancel without a yes": {"p", "cancel", exit.Usage, "--yes"},
		"no such directory":    {"p", "-C nowhere version", exit.Usage, "--cwd"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, errs := call("", c.where, strings.Fields(c.args)...)
			require.Equal(t, c.status, status, errs)
			require.Contains(t, errs, c.says)
			if status != 0 {
				require.Equal(t, 1, strings.Count(errs, "error: "), "one clear error: %s", errs)
			}
		})
	}
	before, err := os.ReadDir(dir + "/backend/.pulumi/stacks/demo")
	require.NoError(t, err)
	require.Len(t, before, 1, "nothing was written for what failed")
}

func TestOwnVariablesWin(t *testing.T) {
	set := map[string]string{}
	adoptOwnVariables([]string{"SLUICE_STACK=mine", "PULUMI_STACK=theirs", "SLUICE_=x", "OTHER=1", "SLUICE_A=b=c"}, func(name, value string) error {
		set[name] = value
		return nil
	})
	require.Equal(t, map[string]string{"PULUMI_STACK": "mine", "PULUMI_A": "b=c"}, set)
}

func TestPanicsAreInternalFaults(t *testing.T) {
	var stderr bytes.Buffer
	status := run(t.Context(), []string{"stack", "init"}, terminal.Streams{In: strings.NewReader(""), Out: &stderr, Err: &stderr, Lookup: func(string) (string, bool) {
		panic("a bug")
	}}, secretstest.CheapKeys{})
	require.Equal(t, exit.Internal, status)
	require.Contains(t, stderr.String(), "internal fault: a bug")
}
