package language

import (
	"context"
	"errors"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	codegenrpc "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/tooling"
	"github.com/sluice-iac/sluice/stages"
)

// Generator generates SDKs with the language plugin.
type Generator struct {
	Runtime
	Language string
	Output   func(plugin.Line) // receives the output of the language plugin; nil discards
}

var _ tooling.Generator = Generator{}

// Generate writes an SDK with the language plugin.
func (g Generator) Generate(ctx context.Context, sdk tooling.SDK, loader string) ([]tooling.Remark, error) {
	p := source.Project{Runtime: g.Language, Root: sdk.Directory, Directory: sdk.Directory, Entry: "."}
	var remarks []tooling.Remark
	err := g.with(ctx, p, g.output(), func(h *host, _ *pulumirpc.ProgramInfo) error {
		answer, err := h.client.GeneratePackage(ctx, &pulumirpc.GeneratePackageRequest{
			Directory: sdk.Directory, Schema: string(sdk.Schema), ExtraFiles: sdk.Extra, LoaderTarget: loader, Local: sdk.Local,
		})
		if status.Code(err) == codes.Unimplemented {
			return tooling.ErrNoGenerator
		}
		for _, d := range answer.GetDiagnostics() {
			remarks = append(remarks, remark(d))
		}
		return err
	})
	return remarks, err
}

// remark returns a diagnostic on one line.
func remark(d *codegenrpc.Diagnostic) tooling.Remark {
	text := d.GetSummary()
	if d.GetDetail() != "" {
		text += "; " + d.GetDetail()
	}
	if at := d.GetSubject(); at.GetFilename() != "" {
		text = fmt.Sprintf("%s:%d: %s", at.GetFilename(), at.GetStart().GetLine(), text)
	}
	return tooling.Remark{Text: terminal.Plain(text), IsError: d.GetSeverity() == codegenrpc.DiagnosticSeverity_DIAG_ERROR}
}

// Link adds SDKs to the dependencies of a program, with the language plugin. If the plugin does not support this, the author has to do it.
func (g Generator) Link(ctx context.Context, p source.Project, list []tooling.LinkedSDK, loader string) (string, error) {
	var instructions string
	err := g.with(ctx, p, g.output(), func(h *host, info *pulumirpc.ProgramInfo) error {
		req := &pulumirpc.LinkRequest{Info: info, LoaderTarget: loader}
		for _, sdk := range list {
			req.Packages = append(req.Packages, &pulumirpc.LinkRequest_LinkDependency{
				Path: sdk.Directory, Package: dependency(sdk.Package),
			})
		}
		answer, err := h.client.Link(ctx, req)
		if status.Code(err) == codes.Unimplemented {
			return tooling.ErrNoGenerator
		}
		instructions = terminal.Plain(answer.GetImportInstructions())
		return err
	})
	return instructions, err
}

func (g Generator) output() func(plugin.Line) {
	if g.Output == nil {
		return func(plugin.Line) {}
	}
	return g.Output
}

// Write writes a program in the plugin's language, from one in PCL ([protocol.md 6.1]). If one of the remarks is an error, the program is not
// usable.
//
// [protocol.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#61-language-plugins
func (g Generator) Write(ctx context.Context, req *pulumirpc.GenerateProjectRequest) ([]tooling.Remark, error) {
	p := source.Project{Runtime: g.Language, Root: req.GetSourceDirectory(), Directory: req.GetSourceDirectory(), Entry: "."}
	var remarks []tooling.Remark
	err := g.with(ctx, p, g.output(), func(h *host, _ *pulumirpc.ProgramInfo) error {
		answer, err := h.client.GenerateProject(ctx, req)
		if status.Code(err) == codes.Unimplemented {
			return errors.New("it cannot write programs; a newer version may")
		}
		remarks = Remarks(answer.GetDiagnostics())
		return err
	})
	return remarks, err
}

// dependency returns a package in the protocol's form.
func dependency(pkg stages.Package) *pulumirpc.PackageDependency {
	parameters := func(p *stages.Parameterization) *pulumirpc.PackageParameterization {
		if p == nil {
			return nil
		}
		return &pulumirpc.PackageParameterization{Name: p.Name, Version: p.Version, Value: p.Value}
	}
	return &pulumirpc.PackageDependency{
		Name: pkg.Name, Kind: string(plugin.Resource), Version: pkg.Version, Server: pkg.DownloadURL, Checksums: pkg.Checksums,
		Parameterization: parameters(pkg.Parameterization), Extension: parameters(pkg.Extension),
	}
}

// Remarks reads diagnostics from their form on the wire.
func Remarks(list []*codegenrpc.Diagnostic) []tooling.Remark {
	var out []tooling.Remark
	for _, d := range list {
		out = append(out, remark(d))
	}
	return out
}
