package flags

import "github.com/spf13/pflag"

// The flags for profiles and traces. Code that starts traces before the command finds them by name.
const (
	TraceFlag   = "trace"
	TimingsFlag = "timings"
)

// AddTiming registers them.
func AddTiming(f *pflag.FlagSet) {
	f.String(TraceFlag, "", "write a trace of what runs when to this `FILE`, which Perfetto (ui.perfetto.dev) opens")
	f.Bool(TimingsFlag, false, "at the end, tell on the standard error where the time went")
}
