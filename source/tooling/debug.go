package tooling

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
)

// Debug selects the processes that wait for a debugger before they do anything. The zero value selects none.
type Debug struct {
	Program bool
	Plugins bool     // all plugins that are written in a program language, policy packs too
	Names   []string // further plugins, by name
	// Found is called with each of Names that names a plugin, perhaps from many goroutines; nil discards.
	Found func(name string)
}

// Plugin reports whether a plugin with these names waits for a debugger.
func (d Debug) Plugin(names ...string) bool {
	return d.Named(names...) || d.Plugins
}

// Named reports whether Names contains one of the names of a plugin.
func (d Debug) Named(names ...string) bool {
	named := false
	for _, name := range names {
		if !slices.Contains(d.Names, name) {
			continue
		}
		named = true
		if d.Found != nil {
			d.Found(name)
		}
	}
	return named
}

// NoPluginDebugger is the error of a plugin to which no debugger can attach.
func NoPluginDebugger(name, reason string) error {
	return fmt.Errorf("no debugger can attach to plugin %q: %s", name, reason)
}

// NoDebuggerError reports that no debugger can attach to a program.
type NoDebuggerError struct {
	Program string // as [Project.Program]
	Reason  string
}

func (e *NoDebuggerError) Error() string {
	return fmt.Sprintf("no debugger can attach to %s: %s", e.Program, e.Reason)
}

// Advice lists the runtimes that can be debugged.
func (*NoDebuggerError) Advice() []advice.Advice {
	return []advice.Advice{advice.On(advice.DebugPlugins)}
}

// Waiting returns the message that a process waits for a debugger. where describes the place, and config is the configuration with which an
// editor attaches.
func Waiting(where string, config map[string]any) stages.LogMessage {
	if config == nil {
		config = map[string]any{}
	}
	return stages.LogMessage{
		Severity: stages.Info, Message: fmt.Sprintf("Waiting for debugger to attach (%s)...", where), Ephemeral: true, Debugger: config,
	}
}
