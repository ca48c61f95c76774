package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// fleetProgram is the program of `sluice fleet`, which is a module of its own.
const fleetProgram = "sluice-fleet"

func newFleetCommand(t *terminal.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Work on many stacks that depend on each other",
		Long: "Preview, update, refresh and destroy many stacks in the order of their dependencies, on one machine or many, as a file\n" +
			"fleet.yaml describes them.\n\n" +
			"This is the program sluice-fleet, beside sluice or on PATH, with the same arguments. `sluice fleet --help` shows what it\n" +
			"can do if it is installed; docs/fleet.md describes it.",
		DisableFlagParsing: true, ValidArgsFunction: completeFleet,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := findFleet(os.Executable, exec.LookPath)
		if err != nil {
			return err
		}
		return become(cmd.Context(), t, path, cmd.CommandPath(), args)
	}
	return cmd
}

// completeFleet returns the completions of the fleet program, or none if there is no such program.
func completeFleet(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	path, err := findFleet(os.Executable, exec.LookPath)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// The fleet program uses cobra too: it prints one word per line, and the completion directive in the last line.
	out, err := exec.CommandContext(cmd.Context(), path, slices.Concat([]string{cobra.ShellCompRequestCmd}, args, []string{toComplete})...).Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	last := len(lines) - 1
	directive, wrong := strconv.Atoi(strings.TrimPrefix(lines[last], ":"))
	if err != nil || wrong != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lines[:last], cobra.ShellCompDirective(directive)
}

// findFleet returns the path of the program: beside this one, or on PATH.
func findFleet(executable func() (string, error), lookPath func(string) (string, error)) (string, error) {
	if self, err := executable(); err == nil {
		if path, err := lookPath(filepath.Join(filepath.Dir(self), fleetProgram)); err == nil {
			return path, nil
		}
	}
	path, err := lookPath(fleetProgram)
	if err != nil {
		return "", exit.Usagef("%s is neither beside sluice nor on PATH; releases have it beside sluice, and in a checkout this makes it:\n"+
			"  go -C fleet build -o ../bin/ ./cmd/%s", fleetProgram, fleetProgram)
	}
	return path, nil
}
