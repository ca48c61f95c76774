package language

import (
	"context"
	"fmt"
	"io"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Runtime runs programs and plugins in one language through its language plugin. Its fields are those of [Options].
type Runtime struct{ Options }

var _ tooling.Runtime = Runtime{}

// Program returns the program of a project.
func (r Runtime) Program(p source.Project) source.Program { return New(p, r.Options) }

// StartPlugin runs a plugin through the language plugin, and returns when the plugin has written its port.
func (r Runtime) StartPlugin(ctx context.Context, p source.Project, c tooling.PluginCommand) (plugin.Server, error) {
	if c.Dynamic {
		return nil, tooling.ErrNoPlugins // dynamic providers are part of the SDK, and language plugins do not run them
	}
	x, err := startPlugin(ctx, p, r.Options, c)
	if err != nil || x == nil {
		return nil, err // not a nil pointer in an interface
	}
	return x, nil
}

// Install installs the dependencies of a program through the language plugin.
func (r Runtime) Install(ctx context.Context, p source.Project, output func(plugin.Line)) error {
	return r.with(ctx, p, output, func(h *host, info *pulumirpc.ProgramInfo) error {
		stream, err := h.client.InstallDependencies(ctx, &pulumirpc.InstallDependenciesRequest{
			//lint:ignore SA1019 older plugins read this instead of Info
			Directory: p.Directory, Info: info,
		})
		if err != nil {
			return err
		}
		var out [2]plugin.Splitter
		for i := range out {
			out[i].Emit = func(piece plugin.Piece) {
				output(plugin.Line{Piece: piece, Plugin: h.name, Stderr: i == 1, Stream: int32(i + 1)})
			}
		}
		defer func() { out[0].End(); out[1].End() }()
		for {
			m, err := stream.Recv()
			if err == io.EOF { //nolint:errorlint // streams end with it
				return nil
			}
			if err != nil {
				return err
			}
			_, _ = out[0].Write(m.GetStdout()) // never fails
			_, _ = out[1].Write(m.GetStderr())
		}
	})
}

// About returns the language plugin's description of the tool that runs programs.
func (r Runtime) About(ctx context.Context, p source.Project) ([]tooling.Tool, error) {
	var tools []tooling.Tool
	err := r.with(ctx, p, func(plugin.Line) {}, func(h *host, info *pulumirpc.ProgramInfo) error {
		about, err := h.client.About(ctx, &pulumirpc.AboutRequest{Info: info})
		if err != nil && status.Code(err) != codes.Unimplemented {
			return err
		}
		if about.GetExecutable() != "" || about.GetVersion() != "" {
			tools = append(tools, tooling.Tool{Name: p.Runtime, Version: about.GetVersion(), Path: about.GetExecutable()})
		}
		own, err := h.client.GetPluginInfo(ctx, &emptypb.Empty{})
		if err != nil {
			return nil //nolint:nilerr // a plugin need not have a version
		}
		tools = append(tools, tooling.Tool{Name: h.name, Version: own.GetVersion(), Path: r.Executable})
		return nil
	})
	return tools, err
}

// with starts the language plugin for the duration of call.
func (r Runtime) with(ctx context.Context, p source.Project, output func(plugin.Line), call func(*host, *pulumirpc.ProgramInfo) error) error {
	info, err := New(p, r.Options).info()
	if err != nil {
		return err
	}
	engine, err := source.AddressOf(r.Engine)
	if err != nil {
		return err
	}
	h, err := startHost(ctx, p, r.Options, engine, output)
	if err != nil {
		return err
	}
	defer h.stop()
	if err := call(h, info); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if exit := h.ended(err); exit != nil {
			return exit
		}
		if _, is := status.FromError(err); !is {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		return fmt.Errorf("plugin %s: %s", h.title(), reason(err))
	}
	return nil
}
