package convert

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/runtimes"
)

// Generation is a program in PCL that is to be written in another language.
type Generation struct {
	Directory string // has the program
	Target    string // is where it is to be written; it exists
	Project   string // is the project file, as JSON
	Strict    bool   // refuses what is merely doubtful
}

// Generate has the language plugin of a runtime write a program in its language, with the schemas that o.Runtimes serves. Nothing else of o
// but Output is used. Errors are those of
// [runtimes.Writer]. If one of the remarks is an error, the program is not usable.
func Generate(ctx context.Context, runtime string, g Generation, o Options) ([]source.Remark, error) {
	writer, err := runtimes.Writer(ctx, runtime, o.Runtimes, o.Output)
	if err != nil {
		return nil, err
	}
	address, err := source.AddressOf(o.Runtimes.Schemas)
	if err != nil {
		return nil, err
	}
	return writer.Write(ctx, &pulumirpc.GenerateProjectRequest{
		SourceDirectory: g.Directory, TargetDirectory: g.Target, Project: g.Project, Strict: g.Strict, LoaderTarget: address,
	})
}
