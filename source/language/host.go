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
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/terminal"
)

// portPatience limits the time until a plugin has written its port: the first start of a language's tools may take minutes
// (protocol.md 1.6).
const portPatience = 10 * time.Minute

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

// said returns the last output of the plugin, to be appended to an error; "" if there is none.
func (h *host) said() string {
	if h.process == nil || h.process.Said() == "" {
		return ""
	}
	return "\n" + terminal.Plain(h.process.Said())
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
		patience, cancel := context.WithTimeout(ctx, portPatience)
		defer cancel()
		if port, err = process.Port(patience); err != nil {
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
			if exit := h.process.ExitedWithin(exitPatience); exit != nil {
				return errors.New(terminal.Plain(exit.Error()))
			}
		}
		return fmt.Errorf("plugin %s: %w%s", h.title(), err, h.said())
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
	exit := h.process.ExitedWithin(exitPatience)
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
