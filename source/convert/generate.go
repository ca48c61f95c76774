package convert

import (
	"context"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/loader"
	"github.com/sluice-iac/sluice/source/runtimes"
)

// Generation is a program in PCL that is to be written in another language.
type Generation struct {
	Directory string // has the program
	Target    string // is where it is to be written; it exists
	Project   string // is the project file, as JSON
	Strict    bool   // refuses what is merely doubtful
}

// Generate has the language plugin of a runtime write a program in its language. o.Mapper is not used. Errors are those of
// [runtimes.Writer]. If one of the remarks is an error, the program is not usable.
func Generate(ctx context.Context, runtime string, g Generation, o Options) ([]source.Remark, error) {
	writer, err := runtimes.Writer(ctx, runtime, o.Runtimes, o.Output)
	if err != nil {
		return nil, err
	}
	service := loader.NewServer(ctx, loader.Options{Providers: o.Providers, Warn: o.Warn})
	defer func() { _ = service.Close() }() // never fails
	address, err := service.Address()
	if err != nil {
		return nil, err
	}
	return writer.Write(ctx, &pulumirpc.GenerateProjectRequest{
		SourceDirectory: g.Directory, TargetDirectory: g.Target, Project: g.Project, Strict: g.Strict, LoaderTarget: address,
	})
}
