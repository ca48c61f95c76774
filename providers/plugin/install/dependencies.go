package install

import (
	"fmt"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// Written is a plugin in source form that is being installed.
type Written struct {
	Kind      plugin.Kind
	Name      string
	Directory string // where its manifest is, and stays
	// Said gets what package managers print, from many goroutines. Its last lines are in the error if the installation fails.
	Said func(plugin.Line)
}

// DependenciesError says that what a plugin in source form needs could not be installed. Nothing of the plugin is kept.
type DependenciesError struct {
	Output string // the last lines of what was printed, below a heading; "" if nothing was
	Err    error
}

func (e *DependenciesError) Error() string {
	text := fmt.Sprintf("cannot install its dependencies: %v", e.Err)
	if e.Output != "" {
		text += "\n" + e.Output
	}
	return text
}

// Unwrap returns why.
func (e *DependenciesError) Unwrap() error { return e.Err }
