package convert

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Generation is a program in PCL to be written in another language.
type Generation struct {
	Directory string // of the PCL
	Target    string // of the program to write; it exists
	Project   string // the project file, as JSON
	Strict    bool   // refuses doubtful constructs too
}

// Generate writes a program in the language of a runtime, with its language plugin and the schemas that o.Runtimes serves. Of the other
// options only Output is used. Errors are those of [runtimes.Writer]. If one of the remarks is an error, the program is not usable.
func Generate(ctx context.Context, runtime string, g Generation, o Options) ([]tooling.Remark, error) {
	writer, err := runtimes.Writer(ctx, runtime, o.Runtimes, o.Output)
	if err != nil {
		return nil, err
	}
	address, err := source.AddressOf(o.Runtimes.Schemas)
	if err != nil {
		return nil, err
	}
	return writer.Write(ctx, &pulumirpc.GenerateProjectRequest{
		SourceDirectory: g.Directory, TargetDirectory: g.Target, Project: g.Project, Strict: g.Strict, LoaderTarget: address, MapperTarget: address,
	})
}
