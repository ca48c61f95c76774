package flags

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
)

func TestOneOrLessIsOneAtATime(t *testing.T) {
	for given, want := range map[string]int{"": 0, "-1": 1, "0": 1, "1": 1, "3": 3} { // 0: the engine chooses
		var r Run
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		r.Add(f)
		if given != "" {
			require.NoError(t, f.Set("parallel", given))
		}
		var o sluice.Options
		r.Apply(&o)
		require.Equal(t, want, o.Parallel, "--parallel %s", given)
	}
}
