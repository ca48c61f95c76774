package sluice

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Import takes existing objects under management (steps.md 4.4): each is read from its provider and recorded. No object is
// changed, and the program does not run; Options.Program is only asked for the versions of its packages and may be nil.
// Requests that make no sense are refused before anything is done. One that fails later keeps only what belongs to it from
// being imported; the error is then a [*FailedError].
func (e *Engine) Import(ctx context.Context, requests ...stages.ImportRequest) (*Result, error) {
	return e.imports(ctx, operation{name: "import", imports: requests})
}

// PreviewImport says what Import would do, and records nothing. It reads the objects.
func (e *Engine) PreviewImport(ctx context.Context, requests ...stages.ImportRequest) (*Result, error) {
	return e.imports(ctx, operation{name: "preview", dryRun: true, imports: requests})
}

func (e *Engine) imports(ctx context.Context, op operation) (*Result, error) {
	if err := stages.CheckImports(e.options.Stack, e.options.Project, op.imports); err != nil {
		return nil, err
	}
	return e.operate(ctx, op)
}

// Import takes existing objects under management; see [Engine.Import].
func Import(ctx context.Context, o Options, requests ...stages.ImportRequest) (*Result, error) {
	return Standard(o).Import(ctx, requests...)
}

// PreviewImport says what Import would do, and records nothing.
func PreviewImport(ctx context.Context, o Options, requests ...stages.ImportRequest) (*Result, error) {
	return Standard(o).PreviewImport(ctx, requests...)
}

// importedPackages are the versions that the program uses. A program that cannot tell them, because its dependencies are
// not installed yet, keeps nobody from importing.
func (s *session) importedPackages(ctx context.Context) []stages.Package {
	if s.options.Program == nil {
		return nil
	}
	ps, err := s.options.Program.Packages(ctx)
	if err != nil {
		s.options.Log.Warn("asking the program for its packages", "error", err)
	}
	return ps
}

// PackageSchema returns the schema of the package that a recorded provider serves, as JSON. It starts the provider and ends
// it again, and does not configure it.
func PackageSchema(ctx context.Context, host providers.Host, provider *state.Resource) (string, error) {
	spec, err := providers.SpecFromInputs(provider.Type, provider.Inputs)
	if err != nil {
		return "", err
	}
	p, err := host.Load(ctx, spec)
	if err != nil {
		return "", err
	}
	req := providers.SchemaRequest{}
	if spec.Parameterization != nil {
		req = providers.SchemaRequest{SubpackageName: spec.Package, SubpackageVersion: spec.Version}
	}
	text, err := p.Schema(ctx, req)
	return text, errors.Join(err, p.Close())
}
