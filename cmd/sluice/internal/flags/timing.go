package flags

import "github.com/spf13/pflag"

// The flags that say where the time of an operation went. What starts traces looks for them by name, before the command begins.
const (
	TraceFlag   = "trace"
	TimingsFlag = "timings"
)

// AddTiming registers them.
func AddTiming(f *pflag.FlagSet) {
	f.String(TraceFlag, "", "write a trace of what runs when to this `FILE`, which Perfetto (ui.perfetto.dev) opens")
	f.Bool(TimingsFlag, false, "at the end, tell on the standard error where the time went")
}
