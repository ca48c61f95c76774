package operate

import (
	"context"

	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// program is the program of all phases of an operation: it is prepared once, and lists its packages once. So the update runs what its preview has
// compiled (decision 0289). A preparation that fails, and a list that fails, are tried again.
type program struct {
	source.Program
	prepared bool
	packages []stages.Package
	listed   bool
}

var (
	_ source.Preparer = (*program)(nil)
	_ source.Locator  = (*program)(nil)
)

// Prepare implements [source.Preparer].
func (p *program) Prepare(ctx context.Context, log func(stages.LogMessage)) error {
	inner, needed := p.Program.(source.Preparer)
	if !needed || p.prepared {
		return nil
	}
	err := inner.Prepare(ctx, log)
	p.prepared = err == nil
	return err
}

// Packages returns the packages that the program listed first.
func (p *program) Packages(ctx context.Context) ([]stages.Package, error) {
	if p.listed {
		return p.packages, nil
	}
	var err error
	p.packages, err = p.Program.Packages(ctx)
	p.listed = err == nil
	return p.packages, err
}

// Locate implements [source.Locator], for programs that do.
func (p *program) Locate(u urn.URN, path property.Path) (stages.Place, bool) {
	inner, knows := p.Program.(source.Locator)
	if !knows {
		return stages.Place{}, false
	}
	return inner.Locate(u, path)
}

// openProgram returns the program of the project, or the one that the caller serves.
func openProgram(j *Job, files source.Project, plugins host.PluginOptions) (source.Program, error) {
	port, inline, err := j.Flags.Program.Client()
	if err != nil {
		return nil, err
	}
	if inline {
		if files.Debug {
			j.remarks.warn("--attach-debugger: the program is served by the process at %s, which starts no debugger for it; start that process in a debugger",
				j.Flags.Program.ClientAddress())
		}
		return host.NewInlineProgram(files, port, plugins), nil
	}
	p, err := host.NewProgram(files, plugins)
	if err != nil || j.Flags.Incremental.Off {
		return p, err
	}
	return &program{Program: p}, nil
}
