package flags

import "github.com/spf13/pflag"

// History holds what the history of a stack records about an operation.
type History struct {
	Message             string
	execKind, execAgent string
}

// Add registers the flags.
func (h *History) Add(f *pflag.FlagSet) {
	f.StringVarP(&h.Message, "message", "m", "", "a message for the history")
	f.StringVar(&h.execKind, "exec-kind", "", "who called, for the history")
	f.StringVar(&h.execAgent, "exec-agent", "", "what called, for the history")
	for _, hidden := range []string{"exec-kind", "exec-agent"} {
		_ = f.MarkHidden(hidden) // fails only for flags that are not there
	}
}

// Caller describes the caller, in the form of the history.
func (h *History) Caller() map[string]string {
	out := map[string]string{"exec.kind": h.execKind}
	if h.execKind == "" {
		out["exec.kind"] = "cli"
	}
	if h.execAgent != "" {
		out["exec.agent"] = h.execAgent
	}
	return out
}
