package language

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// portPatience is how long a plugin may take to write its port: the first start of a language's tools may take minutes
// (protocol.md 1.6).
const portPatience = 10 * time.Minute

// host is a language plugin that runs.
type host struct {
	name    string // "pulumi-language-python"
	engine  string
	inline  bool            // Options.Inline
	process *plugin.Process // nil for one that was attached to
	conn    *grpc.ClientConn
	client  pulumirpc.LanguageRuntimeClient
}

func startHost(ctx context.Context, p source.Project, o Options, engine string, output func(plugin.Line)) (*host, error) {
	h := &host{name: "pulumi-language-" + p.Runtime, engine: engine, inline: o.Inline}
	if o.Inline {
		h.name = "the caller's program"
	}
	port := o.Port
	if port == 0 && o.Locate != nil {
		file, err := o.Locate(ctx)
		if err != nil {
			return nil, err
		}
		o.Executable = file
	}
	if port == 0 {
		h.name = strings.TrimSuffix(filepath.Base(o.Executable), filepath.Ext(o.Executable))
		process, err := plugin.Start(plugin.Command{
			Name: h.name, Executable: o.Executable, Args: []string{engine},
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

// connect waits until the plugin answers. A plugin that was attached to has not been told the engine's address by its
// arguments: the handshake does it. A program that its caller serves is told in each run.
func (h *host) connect(ctx context.Context, port int) error {
	conn, err := plugin.Dial(ctx, port)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", h.name, err)
	}
	h.conn, h.client = conn, pulumirpc.NewLanguageRuntimeClient(conn)
	if h.process != nil || h.inline {
		return nil
	}
	_, err = h.client.Handshake(ctx, &pulumirpc.LanguageHandshakeRequest{EngineAddress: h.engine})
	if err == nil || context.Cause(ctx) != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("introduce the engine to %s: %s", h.name, status.Convert(err).Message())
}

// ended returns how the plugin has ended if that is why a call failed; nil if it runs, or if nobody knows.
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
