package flags

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

// Operation are the flags of preview, up, destroy, refresh and import (protocol.md 10.2).
type Operation struct {
	Stack        Stack
	Settings     Settings
	Display      Display
	Run          Run
	Program      Program
	Targeting    Targeting
	Sample       Sample
	Policies     Policies
	Confirmation Confirmation
	Plan         Plan
	Outputs      Outputs
	Creates      Creates
	History      History
	Reports      Reports
	Incremental  Incremental
}

// Add registers the flags that all operations have.
func (o *Operation) Add(f *pflag.FlagSet) {
	o.Stack.Add(f)
	o.Settings.Add(f)
	o.Settings.AddOverrides(f)
	o.Display.Add(f)
	o.Run.Add(f)
	o.Program.Add(f)
	o.History.Add(f)
	addRemote(f)
}

// AddUpdate registers the flags of up and preview.
func (o *Operation) AddUpdate(f *pflag.FlagSet) {
	o.Add(f)
	o.Targeting.Add(f)
	o.Targeting.AddExcludeDependents(f)
	o.Targeting.AddReplace(f)
	o.Program.AddRun(f, "with --refresh: read each resource when the program declares it, with the provider configuration of the program")
	o.Program.AddRefreshChanged(f)
	o.AddPolicies(f)
	o.Creates.Add(f)
	o.Confirmation.AddExpectNoChanges(f)
	o.Incremental.Add(f)
}

// AddPolicies registers the flags of operations that run the program.
func (o *Operation) AddPolicies(f *pflag.FlagSet) {
	o.Policies.Add(f)
	o.Display.AddRemediations(f)
}

// AddConfirmation registers the flags of operations that change something.
func (o *Operation) AddConfirmation(f *pflag.FlagSet) {
	o.Confirmation.Add(f)
	o.Run.AddChanges(f)
}

// CheckProgram refuses flags about the program if it does not run.
func (o *Operation) CheckProgram() error {
	if err := o.Policies.checkProgram(o.Program.Run); err != nil {
		return err
	}
	return o.Program.Debug.Check(o.Program.Run)
}

// Check refuses contradictory flags.
func (o *Operation) Check() error {
	checks := []func() error{
		o.Stack.Check,
		o.Settings.Check,
		func() error { return o.Plan.Check(o.Confirmation.SkipPreview) },
		func() error { _, err := o.Targeting.Compile(); return err },
		func() error { _, err := o.Run.Checkpoints(); return err },
		o.Sample.Check,
		o.Program.Check,
		o.Creates.Check,
		o.Display.Check,
		o.Policies.Check,
		o.Reports.Check,
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// remote is the flag that runs an operation on Pulumi's hosted service. It exists to be refused with an explanation: the Automation API looks
// for it in the help of preview, and otherwise tells its users to upgrade.
type remote struct{}

func addRemote(f *pflag.FlagSet) {
	f.Var(remote{}, "remote", "refused: have Pulumi's hosted service run the operation")
	f.Lookup("remote").NoOptDefVal = "true"
}

func (remote) String() string { return "false" }

func (remote) Type() string { return "bool" }

func (remote) Set(text string) error {
	wanted, err := strconv.ParseBool(text)
	if err == nil && wanted {
		err = errors.New("this runs the operation on the machines of Pulumi's hosted service, which sluice cannot use; " +
			"`sluice up --yes` does the same in a job of your own CI")
	}
	return err
}
