// Package dependencies installs the dependencies of programs, policy packs and plugins with the package managers of their
// languages.
//
// It depends on no package manager and no language: the runtime selects them.
//
// Invariant: the output of a package manager is shown as it comes.
package dependencies

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
)

// Options locates language plugins, and installs missing ones. project is nil for a program outside a project.
func Options(t *terminal.Terminal, project *workspace.Project) (host.PluginOptions, error) {
	places, err := plugins.Of(t, project)
	if err != nil {
		return host.PluginOptions{}, err
	}
	return places.Options(), nil
}

// Install installs the dependencies of a program, and prints that it does. A program in YAML has none.
func Install(ctx context.Context, t *terminal.Terminal, p source.Project, options host.PluginOptions) error {
	if p.Runtime == "yaml" {
		return nil
	}
	h := host.Open(ctx, options)
	defer func() { _ = h.Close() }() // its error changes nothing
	runtime, err := host.NewRuntime(p.Runtime, h.Options())
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "Installing what %s needs\n", p.Directory)
	if err := runtime.Install(ctx, p, Printer(t.Out, t.Err)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.Out, "Finished installing dependencies") // scripts look for these words
	return err
}

// Printer returns a function that writes the output of a process as it comes: its standard output to out, and its standard error to
// errs.
func Printer(out, errs io.Writer) func(plugin.Line) {
	var mu sync.Mutex // the two streams of a process are read by different goroutines
	return func(l plugin.Line) {
		mu.Lock()
		defer mu.Unlock()
		to := out
		if l.Stderr {
			to = errs
		}
		fmt.Fprint(to, l.Text)
		if !l.Cut {
			fmt.Fprintln(to)
		}
	}
}
