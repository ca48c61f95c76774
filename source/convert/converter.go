package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/proto/go/codegen"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/engine"
	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/source/loader"
	"github.com/sluice-iac/sluice/source/runtimes"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Options define how a converter is found, and the services for it.
type Options struct {
	// Runtimes finds and installs plugins, and runs those in source form.
	Runtimes runtimes.Options
	// Providers starts the providers whose schemas the converter requests.
	Providers providers.Host
	// Mapper maps names of other tools to names of packages.
	Mapper codegen.MapperServer
	// Output receives the output of the converter, from several goroutines; nil discards.
	Output func(plugin.Line)
	// Warn is called when another user calls the services for the converter; nil discards.
	Warn func(message string)
}

// Converter is a running converter plugin. Calls of its methods must not overlap.
type Converter struct {
	name   string // "pulumi-converter-terraform"
	server plugin.Server
	conn   *grpc.ClientConn
	rpc    pulumirpc.ConverterClient
	// mapper and loader are served to the converter, at mapperAddress and loaderAddress.
	mapper                       *loopback.Server
	loader                       *loader.Server
	mapperAddress, loaderAddress string
}

// Open starts the converter with a name, in the working directory of this process. The caller must Close it. The error is a
// *[plugin.MissingError] if the converter is not there and could not be installed.
func Open(ctx context.Context, name string, o Options) (*Converter, error) {
	c := &Converter{name: "pulumi-converter-" + name}
	if err := c.open(ctx, name, o); err != nil {
		c.Close()
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	return c, nil
}

func (c *Converter) open(ctx context.Context, name string, o Options) error {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	var err error
	if c.server, err = c.start(ctx, name, o); err != nil {
		return err
	}
	port, err := plugin.PortInTime(ctx, c.server)
	if err != nil {
		return plain(err)
	}
	if c.conn, err = plugin.Dial(ctx, port); err != nil {
		return c.withExit(fmt.Errorf("plugin %s: %w%s", c.server.Title(), err, c.lastOutput()))
	}
	c.rpc = pulumirpc.NewConverterClient(c.conn)
	c.mapper = loopback.NewServer(ctx, func(r grpc.ServiceRegistrar) { codegen.RegisterMapperServer(r, o.Mapper) }, o.Warn)
	c.loader = loader.NewServer(ctx, loader.Options{Providers: o.Providers, Warn: o.Warn})
	if c.mapperAddress, err = c.mapper.Address(); err != nil {
		return err
	}
	c.loaderAddress, err = c.loader.Address()
	return err
}

// start starts the process of a converter. A language runs one in source form.
func (c *Converter) start(ctx context.Context, name string, o Options) (plugin.Server, error) {
	wanted := plugin.Wanted{Kind: plugin.Converter, Name: name}
	at, err := o.Runtimes.Finder.FindOrAcquire(ctx, wanted, o.Runtimes.Acquire)
	var written *plugin.LanguageHostedError
	switch {
	case err == nil:
		return plugin.Start(plugin.Command{Name: c.name, Version: at.Version, Executable: at.Executable, Args: o.Runtimes.LogFlags, Environment: os.Environ(), Output: o.Output})
	case errors.As(err, &written):
		return c.startWritten(ctx, written.Directory, o)
	}
	return nil, err
}

func (c *Converter) startWritten(ctx context.Context, directory string, o Options) (plugin.Server, error) {
	m, err := source.ReadManifest(directory, plugin.PluginManifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	if err := engine.Require(filepath.Join(directory, plugin.PluginManifest), m.RequiredVersion); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	server, err := runtimes.StartPlugin(ctx, m.Project(directory), tooling.PluginCommand{
		Kind: plugin.Converter, Name: c.name, Version: m.Version, Args: o.Runtimes.LogFlags, Directory: here, Environment: os.Environ(), Output: o.Output,
	}, o.Runtimes)
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w", c.name, directory, err)
	}
	return server, nil
}

// State converts a state. The arguments are the converter's own; most take the path of a file. If one of the remarks is an error, the state
// could not be converted.
func (c *Converter) State(ctx context.Context, args []string) ([]Resource, []tooling.Remark, error) {
	answer, err := c.rpc.ConvertState(ctx, &pulumirpc.ConvertStateRequest{
		MapperTarget: c.mapperAddress, Args: args, LoaderTarget: c.loaderAddress, ResolverTarget: c.loaderAddress,
	})
	if err != nil {
		return nil, nil, c.failed(ctx, "states", err)
	}
	resources := make([]Resource, 0, len(answer.GetResources()))
	for i, r := range answer.GetResources() {
		resource, err := newResource(r)
		if err != nil {
			return nil, nil, fmt.Errorf("%s gave a resource that cannot be read, number %d of its answer (%q): %w", c.name, i+1, r.GetName(), err)
		}
		resources = append(resources, resource)
	}
	return resources, language.Remarks(answer.GetDiagnostics()), nil
}

// Program is a program to be converted.
type Program struct {
	Directory string // of the source
	Target    string // of the PCL to write; it exists and is empty
	Project   string // the final directory of the converted program, to which the paths of assets are relative
	Args      []string
}

// Program converts a program to PCL, the language from which programs in all others are generated. If one of the remarks is an error, the
// program could not be converted.
func (c *Converter) Program(ctx context.Context, p Program) ([]tooling.Remark, error) {
	answer, err := c.rpc.ConvertProgram(ctx, &pulumirpc.ConvertProgramRequest{
		SourceDirectory: p.Directory, TargetDirectory: p.Target, GeneratedProjectDirectory: p.Project, Args: p.Args,
		MapperTarget: c.mapperAddress, LoaderTarget: c.loaderAddress,
	})
	if err != nil {
		return nil, c.failed(ctx, "programs", err)
	}
	return language.Remarks(answer.GetDiagnostics()), nil
}

// failed explains the failure of a call. It shows the converter's own message without the prefix of gRPC.
func (c *Converter) failed(ctx context.Context, what string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	st := status.Convert(err)
	switch st.Code() {
	case codes.Unimplemented:
		return fmt.Errorf("plugin %s cannot convert %s", c.server.Title(), what)
	case codes.Unavailable:
		return c.withExit(fmt.Errorf("%s went away: %s", c.name, terminal.Plain(st.Message())))
	}
	message := terminal.Plain(st.Message())
	switch nonsense := strings.HasPrefix(message, "grpc: "); {
	case strings.TrimSpace(message) == "":
		message = fmt.Sprintf("it gives no reason (gRPC code %s)", st.Code())
	case nonsense:
		message = "its answer cannot be decoded: " + message
	default:
		return fmt.Errorf("%s: %s", c.name, message)
	}
	return fmt.Errorf("plugin %s: %s%s", c.server.Title(), message, c.lastOutput())
}

// lastOutput returns the last output of the converter, to be appended to an error; "" if there is none.
func (c *Converter) lastOutput() string {
	if text := c.server.LastOutput(); text != "" {
		return "\n" + terminal.Plain(text)
	}
	return ""
}

// withExit returns the exit of the converter in place of err, if the converter has ended.
func (c *Converter) withExit(err error) error {
	if exit := plugin.ExitedSoon(c.server); exit != nil {
		return plain(exit)
	}
	return err
}

// plain removes control sequences from the text of an error, which may contain the output of a plugin.
func plain(err error) error { return errors.New(terminal.Plain(err.Error())) }

// Close ends the converter.
func (c *Converter) Close() {
	if c.conn != nil {
		_ = c.conn.Close() // only fails when it is closed already
	}
	if c.server != nil {
		c.server.Stop()
	}
	if c.mapper != nil {
		_ = c.mapper.Close() // never fails
		_ = c.loader.Close()
	}
}

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
