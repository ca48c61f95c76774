package flags

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// Display selects the content and the form of the output.
type Display struct {
	EventLog         string // the file that events are written to; "" is none
	Form             Form
	extended         optional
	json             bool // events or a document for programs, instead of a text for people
	summary          bool // one line for programs
	suppressProgress bool
	lines            display.Lines
	details          display.Details
	permalink        string // accepted and ignored
}

// Add registers the flags.
func (d *Display) Add(f *pflag.FlagSet) {
	f.BoolVarP(&d.json, "json", "j", false, "write JSON to the standard output")
	addOutput(f, &d.summary, "default, or json for a summary of the operation in one line of JSON")
	AddFile(f, &d.EventLog, "event-log", "write events to this file, one JSON object on each line, or send them to tcp://127.0.0.1:<port>")
	f.Var(&d.extended, "extended-events", "have JSON and event logs contain what Pulumi's do not, such as reasons; "+
		"the default, except for a command that is called as pulumi")
	f.Lookup("extended-events").NoOptDefVal = "true"
	f.Var(&d.Form, "display", "how people see it: tree, log (in the order of the plan), events (each step as it begins and ends) or quiet (only how it ends); "+
		"the default is tree on a terminal, and else log, or events for a command that is called as pulumi")
	f.BoolVar(&d.suppressProgress, "suppress-progress", false, "do not show running operations, only finished ones")
	d.addLines(f)
	d.addDetails(f)
	f.StringVar(&d.permalink, "suppress-permalink", "", "accepted for scripts: there are no permalinks")
	f.Lookup("suppress-permalink").NoOptDefVal = "true"
	_ = f.MarkHidden("suppress-permalink") // fails only for flags that do not exist
}

func (d *Display) addLines(f *pflag.FlagSet) {
	f.BoolVarP(&d.lines.Debug, "debug", "d", false, "show debug messages")
	f.BoolVar(&d.lines.ShowConfig, "show-config", false, "show the settings of the stack")
	f.BoolVar(&d.lines.ShowSames, "show-sames", false, "show resources that do not change")
	f.BoolVar(&d.lines.ShowReads, "show-reads", false, "show resources that are only read")
	f.BoolVar(&d.lines.ShowReplacementSteps, "show-replacement-steps", false, "show the steps of a replacement one by one")
}

// AddRemediations registers the flag that shows remediations.
func (d *Display) AddRemediations(f *pflag.FlagSet) {
	f.BoolVar(&d.lines.ShowRemediations, "show-policy-remediations", false, "show changes that policies have made to the inputs of resources")
}

func (d *Display) addDetails(f *pflag.FlagSet) {
	f.BoolVar(&d.details.Diff, "diff", false, "show the changes of properties instead of one line for each resource")
	f.BoolVar(&d.details.ShowURNs, "urns", false, "show URNs instead of types and names")
	f.BoolVar(&d.details.ShowSecrets, "show-secrets", false, "show secret values")
	f.BoolVar(&d.details.ShowFullOutput, "show-full-output", false, "do not cut long values")
	f.BoolVar(&d.details.SuppressOutputs, "suppress-outputs", false, "do not show the outputs of the stack")
}

// JSON reports whether the output is for programs instead of people.
func (d *Display) JSON() bool { return d.json || d.summary }

// Extended reports whether JSON has sluice's extensions. asPulumi is true for a command that stands in for Pulumi.
func (d *Display) Extended(asPulumi bool) bool {
	if d.extended.given {
		return d.extended.yes
	}
	return !asPulumi
}

// Summary reports whether the output is one line of JSON that sums the operation up.
func (d *Display) Summary() bool { return d.summary }

// Check refuses contradictory forms of output.
func (d *Display) Check() error {
	if d.json && d.summary {
		return exit.Usagef("--json and --output json cannot be used together: the first writes every event, the second a one-line summary")
	}
	return nil
}

// ShowSecrets reports whether secrets may be shown.
func (d *Display) ShowSecrets() bool { return d.details.ShowSecrets }

// Diff reports whether changes of properties are shown.
func (d *Display) Diff() bool { return d.details.Diff }

// Options returns the options of the display without its output and title.
func (d *Display) Options() display.Options {
	return display.Options{Lines: d.lines, Details: d.details, SuppressProgress: d.suppressProgress || d.Form == Quiet, OnlyEnd: d.Form == Quiet}
}

// Form is the form in which people see an operation.
type Form string

// The forms of an operation.
const (
	Unset  Form = ""
	Tree   Form = "tree"
	Log    Form = "log"
	Events Form = "events"
	Quiet  Form = "quiet"
)

// Set implements [pflag.Value].
func (f *Form) Set(text string) error {
	switch Form(text) {
	case Tree, Log, Events, Quiet:
		*f = Form(text)
		return nil
	}
	return errors.New("write tree, log, events or quiet")
}

// String implements [pflag.Value].
func (f *Form) String() string { return string(*f) }

// Type implements [pflag.Value].
func (*Form) Type() string { return "form" }

// optional is a flag whose default depends on another value.
type optional struct{ given, yes bool }

// Set implements [pflag.Value].
func (o *optional) Set(text string) error {
	yes, err := strconv.ParseBool(text)
	*o = optional{given: err == nil, yes: yes}
	return err
}

// String implements [pflag.Value].
func (o *optional) String() string {
	if o == nil || !o.given {
		return ""
	}
	return strconv.FormatBool(o.yes)
}

// Type implements [pflag.Value].
func (*optional) Type() string { return "bool" }

// AddJSON registers the flags for JSON: --json, and --output json, which means the same.
func AddJSON(f *pflag.FlagSet, json *bool, usage string) {
	f.BoolVarP(json, "json", "j", false, usage)
	addOutput(f, json, "default or json, which is the same as --json")
}

func addOutput(f *pflag.FlagSet, json *bool, usage string) {
	f.Var((*outputForm)(json), "output", usage)
	f.Lookup("output").DefValue = "" // the usage text has it
}

// outputForm is the value of --output.
type outputForm bool

// Set implements [pflag.Value].
func (o *outputForm) Set(text string) error {
	switch text {
	case "default":
		return nil // --json may have been given too
	case "json":
		*o = true
		return nil
	}
	return errors.New("write default or json")
}

// String implements [pflag.Value].
func (o *outputForm) String() string {
	if o != nil && bool(*o) {
		return "json"
	}
	return "default"
}

// Type implements [pflag.Value].
func (*outputForm) Type() string { return "form" }
