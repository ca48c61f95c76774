package flags

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"
)

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
