package install

import (
	"context"
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
	text := fmt.Sprintf("what it needs cannot be installed: %v", e.Err)
	if e.Output != "" {
		text += "\n" + e.Output
	}
	return text
}

// Unwrap returns why.
func (e *DependenciesError) Unwrap() error { return e.Err }

// dependencies installs what a plugin needs that is in its place, if it is one in source form.
func (i *Installer) dependencies(ctx context.Context, p place) error {
	if _, executable := plugin.Executable(p.directory, p.request.Kind, p.request.Name); executable || i.options.Dependencies == nil {
		return nil
	}
	folder, _ := plugin.SourceFolder(p.directory, p.request.Kind, p.request.Name) // it is usable
	p.request.observe(Progress{Phase: Completing})
	var last plugin.Tail
	err := i.options.Dependencies(ctx, Written{
		Kind: p.request.Kind, Name: p.request.Name, Directory: folder, Said: last.Add,
	})
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &DependenciesError{Output: last.Text("its last output was:"), Err: err}
}
