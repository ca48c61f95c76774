package flags

import "github.com/spf13/pflag"

// Outputs are the files that connect previews of stacks that read each other's outputs.
type Outputs struct {
	Save  string // the file for the outputs that the preview predicts
	Known string // the file with the outputs of other stacks that their previews predict
}

// Add registers the flags of previews.
func (o *Outputs) Add(f *pflag.FlagSet) {
	AddFile(f, &o.Save, "save-outputs", "write the outputs of the stack that would change to this `file`, as JSON; those that are secret as unknown ones")
	AddFile(f, &o.Known, "stack-outputs", "take outputs of other stacks from this `file`: for each name of a stack what --save-outputs has written of it")
}
