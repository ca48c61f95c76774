package language

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sourcegraph/conc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
)

// host is a running language plugin.
type host struct {
	name    string // "pulumi-language-python"
	engine  string
	inline  bool            // Options.Inline
	process *plugin.Process // nil for a plugin that was running already
	conn    *grpc.ClientConn
	client  pulumirpc.LanguageRuntimeClient
}

// title returns the name of the plugin for messages: with its version, if that is known, and its path.
func (h *host) title() string {
	if h.process == nil {
		return h.name
	}
	return h.process.Title()
}

// fault returns the error of a call, also if the plugin gives no reason.
func (h *host) fault(doing string, err error) error {
	return fmt.Errorf("plugin %s: %s: %s", h.title(), doing, reason(err))
}

func reason(err error) string {
	st := status.Convert(err)
	return cmp.Or(strings.TrimSpace(st.Message()), fmt.Sprintf("it gives no reason (gRPC code %s)", st.Code()))
}

// lastOutput returns the last output of the plugin, to be appended to an error; "" if there is none.
func (h *host) lastOutput() string {
	if h.process == nil || h.process.LastOutput() == "" {
		return ""
	}
	return "\n" + terminal.Plain(h.process.LastOutput())
}

func startHost(ctx context.Context, p source.Project, o Options, engine string, output func(plugin.Line)) (*host, error) {
	h := &host{name: "pulumi-language-" + p.Runtime, engine: engine, inline: o.Inline}
	if o.Inline {
		h.name = "the caller's program"
	}
	port := o.Port
	if port == 0 && o.Locate != nil {
		found, err := o.Locate(ctx)
		if err != nil {
			return nil, err
		}
		o.Executable, o.Version = found.Executable, found.Version
	}
	if port == 0 {
		h.name = strings.TrimSuffix(filepath.Base(o.Executable), filepath.Ext(o.Executable))
		process, err := plugin.Start(plugin.Command{
			Name: h.name, Version: o.Version, Executable: o.Executable, Args: append(slices.Clone(o.LogFlags), engine),
			Directory: p.Directory, Environment: os.Environ(), Output: output,
		})
		if err != nil {
			return nil, err
		}
		h.process = process
		if port, err = plugin.PortInTime(ctx, process); err != nil {
			h.stop()
			return nil, err
		}
	}
	if err := h.connect(ctx, port); err != nil {
		h.stop()
		return nil, err
	}
	return h, nil
}

// connect waits until the plugin answers. A plugin that was running already gets the engine's address by the handshake instead of its
// arguments. A program that its caller serves gets the address in each run.
func (h *host) connect(ctx context.Context, port int) error {
	conn, err := plugin.Dial(ctx, port)
	if err != nil {
		if context.Cause(ctx) == nil && h.process != nil {
			if exit := plugin.ExitedSoon(h.process); exit != nil {
				return errors.New(terminal.Plain(exit.Error()))
			}
		}
		return fmt.Errorf("plugin %s: %w%s", h.title(), err, h.lastOutput())
	}
	h.conn, h.client = conn, pulumirpc.NewLanguageRuntimeClient(conn)
	if h.process != nil || h.inline {
		return nil
	}
	_, err = h.client.Handshake(ctx, &pulumirpc.LanguageHandshakeRequest{EngineAddress: h.engine})
	if err == nil || context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return h.fault("handshake", err)
}

// ended returns the exit of the plugin as the cause of a failed call; nil if the plugin runs, or if its state is unknown.
func (h *host) ended(err error) error {
	if status.Code(err) != codes.Unavailable || h.process == nil {
		return nil
	}
	exit := plugin.ExitedSoon(h.process)
	if exit == nil {
		return nil
	}
	return errors.New(terminal.Plain(exit.Error()))
}

func (h *host) stop() {
	if h.conn != nil {
		_ = h.conn.Close() // only fails when it is closed already
	}
	if h.process != nil {
		h.process.Stop()
	}
}

// run is one call of Run. At the end of ctx it makes the plugin end the program, and abandons the call after some time.
func (h *host) run(ctx context.Context, req *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	callCtx, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	finished, finish := context.WithCancel(callCtx)
	var watch conc.WaitGroup
	watch.Go(func() {
		select {
		case <-finished.Done():
			return
		case <-ctx.Done():
		}
		patience, done := context.WithTimeout(finished, cancelPatience)
		defer done()
		// Old plugins have no Cancel; they notice the end of the call.
		if _, err := h.client.Cancel(patience, &emptypb.Empty{}); err == nil {
			<-patience.Done()
		}
		abandon()
	})
	reply, err := h.client.Run(callCtx, req)
	finish()
	watch.Wait()
	return reply, err
}

func (h *host) packages(ctx context.Context, info *pulumirpc.ProgramInfo) ([]stages.Package, error) {
	reply, err := h.client.GetRequiredPackages(ctx, &pulumirpc.GetRequiredPackagesRequest{Info: info})
	if status.Code(err) == codes.Unimplemented {
		return h.plugins(ctx, info)
	}
	if err != nil {
		return nil, err
	}
	var list []stages.Package
	for _, d := range reply.GetPackages() {
		if isResource(d.GetKind()) {
			list = append(list, stages.Package{
				Name: d.GetName(), Version: strings.TrimPrefix(d.GetVersion(), "v"), DownloadURL: d.GetServer(),
				Checksums: d.GetChecksums(), Parameterization: parameterization(d.GetParameterization()),
				Extension: parameterization(d.GetExtension()),
			})
		}
	}
	return list, nil
}

// plugins is the older form of packages.
func (h *host) plugins(ctx context.Context, info *pulumirpc.ProgramInfo) ([]stages.Package, error) {
	//lint:ignore SA1019 older plugins have no other call
	reply, err := h.client.GetRequiredPlugins(ctx, &pulumirpc.GetRequiredPluginsRequest{
		//lint:ignore SA1019 and read these instead of Info
		Project: "deprecated", Pwd: info.GetProgramDirectory(), Program: info.GetEntryPoint(), Info: info,
	})
	if status.Code(err) == codes.Unimplemented {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []stages.Package
	for _, d := range reply.GetPlugins() {
		if isResource(d.GetKind()) {
			list = append(list, stages.Package{
				Name: d.GetName(), Version: strings.TrimPrefix(d.GetVersion(), "v"), DownloadURL: d.GetServer(), Checksums: d.GetChecksums(),
			})
		}
	}
	return list, nil
}

func isResource(kind string) bool { return kind == "" || kind == "resource" }

func parameterization(p *pulumirpc.PackageParameterization) *stages.Parameterization {
	if p == nil {
		return nil
	}
	return &stages.Parameterization{Name: p.GetName(), Version: strings.TrimPrefix(p.GetVersion(), "v"), Value: p.GetValue()}
}
