package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/urn"
)

// operationFlags are the flags of preview, up and destroy (protocol.md 10.2).
type operationFlags struct {
	stack, configFile                   string
	config                              []string
	configPath                          bool
	message                             string
	parallel                            int
	debug, diff, json                   bool
	eventLog                            string
	showConfig                          bool
	showSames                           bool
	showSecrets                         bool
	showFullOutput                      bool
	showReplacementSteps                bool
	showReads                           bool
	urns                                bool
	suppressOutputs                     bool
	suppressProgress                    bool
	suppressPermalink                   string
	skipConfigValidation                bool
	expectNoChanges                     bool
	ignoreProtect                       bool
	noBuiltins                          bool
	yes, skipPreview                    bool
	previewOnly                         bool
	continueOnError                     bool
	refresh                             optionalBool
	runProgram                          bool
	excludeProtected, remove            bool
	clearCreates, skipCreates           bool
	importCreates                       []string
	pendingCreates                      string
	targets, excludes                   []string
	replace, targetReplace              []string
	targetDependents, excludeDependents bool
	importFile                          string
	execKind, execAgent                 string
	savePlan, plan                      string
	strict                              bool
	checkpoint                          string
	policies                            policyFlags
}

// automatic stands for a degree of parallelism that nobody has given. It is no number that somebody could mean.
const automatic = math.MinInt

// workers is the degree of parallelism for the engine: 0 lets it choose.
func (f *operationFlags) workers() int {
	if f.parallel == automatic {
		return 0
	}
	return max(f.parallel, 1)
}

// add registers the flags that all operations have.
func (f *operationFlags) add(cmd *cobra.Command) {
	p := cmd.Flags()
	p.StringVarP(&f.stack, "stack", "s", "", "the stack; the selected one if not given")
	p.StringVar(&f.configFile, "config-file", "", "use this file instead of Pulumi.<stack>.yaml")
	p.StringArrayVarP(&f.config, "config", "c", nil, "a setting as key=value, saved in the stack's configuration; may be repeated")
	p.BoolVar(&f.configPath, "config-path", false, "the keys of --config are paths to parts of settings")
	p.StringVarP(&f.message, "message", "m", "", "a message for the history")
	p.IntVarP(&f.parallel, "parallel", "p", automatic, "how many resources may change at once; 1 or less is one at a time")
	p.Lookup("parallel").DefValue = "4 for each processor"
	p.BoolVarP(&f.debug, "debug", "d", false, "show debug messages")
	p.BoolVar(&f.diff, "diff", false, "show the changes of properties instead of one line for each resource")
	p.BoolVarP(&f.json, "json", "j", false, "write JSON to the standard output")
	p.StringVar(&f.eventLog, "event-log", "", "write events to this file, one JSON object on each line")
	p.BoolVar(&f.showConfig, "show-config", false, "show the settings that the program gets")
	p.BoolVar(&f.showSames, "show-sames", false, "show resources that do not change")
	p.BoolVar(&f.showSecrets, "show-secrets", false, "show secret values")
	p.BoolVar(&f.showFullOutput, "show-full-output", false, "do not cut long values")
	p.BoolVar(&f.showReplacementSteps, "show-replacement-steps", false, "show the steps of a replacement one by one")
	p.BoolVar(&f.showReads, "show-reads", false, "show resources that are only read")
	p.BoolVar(&f.urns, "urns", false, "show URNs instead of types and names")
	p.BoolVar(&f.suppressOutputs, "suppress-outputs", false, "do not show the outputs of the stack")
	p.BoolVar(&f.suppressProgress, "suppress-progress", false, "do not show what is going on, only what has happened")
	p.StringVar(&f.suppressPermalink, "suppress-permalink", "", "accepted for scripts: there are no permalinks")
	p.Lookup("suppress-permalink").NoOptDefVal = "true"
	p.BoolVar(&f.skipConfigValidation, "skip-config-validation", false, "do not check the configuration against what the project declares")
	p.BoolVar(&f.noBuiltins, "no-builtin-providers", false, "do not serve packages without an installed plugin in process")
	p.BoolVar(&f.ignoreProtect, "ignore-protect", false, "delete protected resources too")
	p.StringVar(&f.execKind, "exec-kind", "", "who called, for the history")
	p.StringVar(&f.execAgent, "exec-agent", "", "what called, for the history")
	for _, hidden := range []string{"suppress-permalink", "exec-kind", "exec-agent"} {
		_ = p.MarkHidden(hidden)
	}
}

// addConfirmation registers the flags of the operations that change something.
func (f *operationFlags) addConfirmation(cmd *cobra.Command) {
	p := cmd.Flags()
	p.BoolVarP(&f.yes, "yes", "y", false, "do not ask for confirmation")
	p.BoolVarP(&f.skipPreview, "skip-preview", "f", false, "do not preview first")
	p.BoolVar(&f.continueOnError, "continue-on-error", false, "go on with other resources when one fails")
	p.StringVar(&f.checkpoint, "checkpoint", "timed",
		"when to write the whole state: timed (now and then, and at the end), end, or every-step; a journal keeps every step in between")
}

func (f *operationFlags) addRefresh(cmd *cobra.Command) {
	cmd.Flags().VarPF(&f.refresh, "refresh", "r", "read every resource before deciding what to do").NoOptDefVal = "true"
}

// addTargets registers the flags that choose resources (steps.md 6.1).
func (f *operationFlags) addTargets(cmd *cobra.Command) {
	p := cmd.Flags()
	p.StringArrayVarP(&f.targets, "target", "t", nil, "touch only the resource with this `URN`; * stands for any text without \":\", ** for any text; may be repeated")
	p.BoolVar(&f.targetDependents, "target-dependents", false, "touch what depends on a target too")
	p.StringArrayVarP(&f.excludes, "exclude", "x", nil, "do not touch the resource with this URN; may be repeated")
}

// addExcludeDependents registers a flag that destroy does not have: what depends on an excluded resource can be deleted
// without harm to it, so destroy deletes it, and the reference refuses the flag there.
func (f *operationFlags) addExcludeDependents(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.excludeDependents, "exclude-dependents", false, "leave what depends on an excluded resource too")
}

// addRunProgram registers the flag of operations that can do without the program, or have it run while they refresh.
func (f *operationFlags) addRunProgram(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&f.runProgram, "run-program", false, usage)
}

// addReplace registers the flags that ask for replacements.
func (f *operationFlags) addReplace(cmd *cobra.Command) {
	p := cmd.Flags()
	p.StringArrayVar(&f.replace, "replace", nil, "replace the resource with this URN; may be repeated")
	p.StringArrayVar(&f.targetReplace, "target-replace", nil, "replace the resource with this URN and touch nothing else; may be repeated")
}

// targeting turns the flags into the engine's terms.
func (f *operationFlags) targeting() (sluice.Targeting, error) {
	t := sluice.Targeting{TargetDependents: f.targetDependents, ExcludeDependents: f.excludeDependents}
	targets := slices.Concat(f.targets, f.targetReplace)
	if len(targets) > 0 && len(f.excludes) > 0 {
		return t, exit.Usagef("--target and --exclude cannot be used together")
	}
	for _, x := range []struct {
		flags string
		set   **urn.PatternSet
		list  []string
	}{
		{"--target or --target-replace", &t.Targets, targets}, {"--exclude", &t.Excludes, f.excludes},
		{"--replace", &t.Replace, slices.Concat(f.replace, f.targetReplace)},
	} {
		var err error
		if *x.set, err = urn.CompileSet(x.list...); err != nil {
			return t, exit.Usagef("%s: %v; give a URN, or a pattern with * for any text without \":\" and ** for any text", x.flags, err)
		}
	}
	return t, nil
}

// optionalBool is a flag that is true, false or not given.
type optionalBool struct{ given, value bool }

// Set parses the flag.
func (b *optionalBool) Set(s string) error {
	v, err := strconv.ParseBool(s)
	*b = optionalBool{given: err == nil, value: v}
	return err
}

// String shows the flag.
func (b *optionalBool) String() string {
	if !b.given {
		return ""
	}
	return strconv.FormatBool(b.value)
}

// Type names the flag's type in help texts.
func (b *optionalBool) Type() string { return "bool" }

func (f *operationFlags) addExpectNoChanges(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.expectNoChanges, "expect-no-changes", false, "exit with status 7 if there are, or would be, changes")
}
