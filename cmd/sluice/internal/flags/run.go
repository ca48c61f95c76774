package flags

import (
	"math"
	"runtime"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/state/backend"
)

// Run defines how changes are made and recorded.
type Run struct {
	parallel        int
	ContinueOnError bool
	IgnoreProtect   bool
	checkpoint      string
}

// automatic stands for a degree of parallelism that was not given. No user would give this number.
const automatic = math.MinInt

// Add registers the flags that all operations have.
func (r *Run) Add(f *pflag.FlagSet) {
	f.IntVarP(&r.parallel, "parallel", "p", automatic, "the largest number of resources that change at once; 1 or less means one at a time")
	f.Lookup("parallel").DefValue = "4 for each processor"
	f.BoolVar(&r.IgnoreProtect, "ignore-protect", false, "delete protected resources too")
}

// AddChanges registers the flags of the operations that change something.
func (r *Run) AddChanges(f *pflag.FlagSet) {
	f.BoolVar(&r.ContinueOnError, "continue-on-error", false, "if a resource fails, continue with the others; a preview that fails ends the command all the same, so add --skip-preview")
	f.StringVar(&r.checkpoint, "checkpoint", "timed",
		"when to write the whole state: timed (now and then, and at the end), end, or every-step; a journal keeps every step in between")
}

// DefaultRun returns the values for commands that do not register these flags.
func DefaultRun() Run { return Run{parallel: automatic} }

// Apply sets the options of the engine.
func (r *Run) Apply(o *sluice.Options) {
	o.ContinueOnError, o.IgnoreProtect = r.ContinueOnError, r.IgnoreProtect
	if r.parallel != automatic { // otherwise the engine chooses
		o.Parallel = max(r.parallel, 1)
	}
}

// Workers is how many operations on resources run at once.
func (r *Run) Workers() int {
	if r.parallel == automatic {
		return 4 * runtime.GOMAXPROCS(0) // the default of sluice.Options.Parallel
	}
	return max(r.parallel, 1)
}

// Checkpoints returns how often an operation writes the whole state.
func (r *Run) Checkpoints() (backend.Cadence, error) {
	switch r.checkpoint {
	case "", "timed":
		return "", nil
	case string(backend.CheckpointsAtEnd), string(backend.CheckpointsEveryStep):
		return backend.Cadence(r.checkpoint), nil
	}
	return "", exit.Usagef("--checkpoint %s: write timed, end or every-step", r.checkpoint)
}
