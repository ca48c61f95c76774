package language

import (
	"context"
	"errors"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/source"
)

// Write writes a program in the plugin's language, from one in PCL (protocol.md 6.1). If one of the remarks is an error, the program is not
// usable.
func (g Generator) Write(ctx context.Context, req *pulumirpc.GenerateProjectRequest) ([]source.Remark, error) {
	p := source.Project{Runtime: g.Language, Root: req.GetSourceDirectory(), Directory: req.GetSourceDirectory(), Entry: "."}
	var remarks []source.Remark
	err := g.with(ctx, p, g.said(), func(h *host, _ *pulumirpc.ProgramInfo) error {
		answer, err := h.client.GenerateProject(ctx, req)
		if status.Code(err) == codes.Unimplemented {
			return errors.New("it cannot write programs; a newer version may")
		}
		remarks = Remarks(answer.GetDiagnostics())
		return err
	})
	return remarks, err
}

// Remarks reads diagnostics from their form on the wire.
func Remarks(list []*codegen.Diagnostic) []source.Remark {
	var out []source.Remark
	for _, d := range list {
		out = append(out, remark(d))
	}
	return out
}
