package install

import (
	"fmt"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// Written is a plugin in source form that is being installed.
type Written struct {
	Kind      plugin.Kind
	Name      string
	Directory string // the folder of its manifest, in its final place
	// Output receives the output of package managers, from many goroutines. Its last lines are in the error if the installation
	// fails.
	Output func(plugin.Line)
}

// DependenciesError reports that the dependencies of a plugin in source form could not be installed. Nothing of the plugin
// is kept.
type DependenciesError struct {
	Output string // the last lines of the output, below a heading; "" if there is none
	Err    error
}

func (e *DependenciesError) Error() string {
	text := fmt.Sprintf("cannot install its dependencies: %v", e.Err)
	if e.Output != "" {
		text += "\n" + e.Output
	}
	return text
}

// Unwrap returns the cause.
func (e *DependenciesError) Unwrap() error { return e.Err }
