package flags

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// Incremental defines which answers of providers are used again.
type Incremental struct {
	// On uses answers of earlier runs. Off uses none, not even those of the preview.
	On, Off bool
	// MaxAge is how old such an answer may be; 0 is any age.
	MaxAge time.Duration
	sample string
}

// Add registers the flags.
func (i *Incremental) Add(f *pflag.FlagSet) {
	f.BoolVar(&i.On, "incremental", false, "do not ask the providers again about what has not changed since an earlier run")
	f.BoolVar(&i.Off, "no-incremental", false, "ask the providers about everything, also in the update after its preview")
	f.DurationVar(&i.MaxAge, "max-age", 0, "with --incremental: ask again if the last answer is older, for example 24h; with --refresh=changed: read also what was not read for longer; 0 is any age")
	f.StringVar(&i.sample, "verify-sample", "0%", "with --incremental: the share of known answers that are checked by asking again, for example 2%")
}

// Share returns the share of answers that are checked, from 0 to 1.
func (i *Incremental) Share() (float64, error) {
	if i.sample == "" {
		return 0, nil
	}
	share, ok := parseShare(i.sample)
	if !ok {
		return 0, exit.Usagef("--verify-sample %s: write a share of the answers from 0%% to 100%%", i.sample)
	}
	return share, nil
}

// Check refuses flags that contradict each other.
func (i *Incremental) Check() error {
	if i.On && i.Off {
		return exit.Usagef("give --incremental or --no-incremental, not both")
	}
	if i.MaxAge < 0 {
		return exit.Usagef("--max-age %s: write a duration from 0", i.MaxAge)
	}
	_, err := i.Share()
	return err
}
