package source

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
)

// Debug says which processes wait for a debugger before they do anything. The zero value is none.
type Debug struct {
	Program bool
	Plugins bool     // all plugins that are written in a program language, policy packs too
	Names   []string // these plugins
}

// Plugin reports whether a plugin of one of these names waits for a debugger.
func (d Debug) Plugin(names ...string) bool {
	return d.Plugins || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(d.Names, name) })
}

// NoDebuggerError says that no debugger can attach to a program.
type NoDebuggerError struct {
	Program string // as [Project.Program]
	Reason  string
}

func (e *NoDebuggerError) Error() string {
	return fmt.Sprintf("no debugger can attach to %s: %s", e.Program, e.Reason)
}

// Advice returns what can be debugged all the same.
func (*NoDebuggerError) Advice() []advice.Advice {
	return []advice.Advice{advice.On(advice.DebugPlugins)}
}

// Waiting returns the message that a process waits for a debugger, where says at which place. config is what an editor needs
// to attach one.
func Waiting(where string, config map[string]any) stages.LogMessage {
	if config == nil {
		config = map[string]any{}
	}
	return stages.LogMessage{
		Severity: stages.Info, Message: fmt.Sprintf("Waiting for debugger to attach (%s)...", where), Ephemeral: true, Debugger: config,
	}
}
