package language

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
	"github.com/sluice-iac/sluice/source/internal/loopback"
	"github.com/sluice-iac/sluice/stages"
)

// The limits on a plugin's start. The first start of a language's tools may take minutes before the port is known, but
// then the port has to answer (protocol.md 1.6, 1.8).
const (
	portPatience    = 10 * time.Minute
	connectPatience = 10 * time.Second
)

// host is a language plugin that runs.
type host struct {
	name    string // "pulumi-language-python"
	engine  string
	process *plugin.Process // nil for one that was attached to
	conn    *grpc.ClientConn
	client  pulumirpc.LanguageRuntimeClient
}

func startHost(ctx context.Context, p source.Project, o Options, engine string, output func(plugin.Line)) (*host, error) {
	h := &host{name: "pulumi-language-" + p.Runtime, engine: engine}
	port := o.Port
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
// arguments: the handshake does it.
func (h *host) connect(ctx context.Context, port int) error {
	conn, err := loopback.Dial(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("connect to %s: %w", h.name, err)
	}
	h.conn, h.client = conn, pulumirpc.NewLanguageRuntimeClient(conn)
	patience, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	if h.process == nil {
		_, err = h.client.Handshake(patience, &pulumirpc.LanguageHandshakeRequest{EngineAddress: h.engine}, grpc.WaitForReady(true))
	} else {
		_, err = h.client.GetPluginInfo(patience, &emptypb.Empty{}, grpc.WaitForReady(true))
		if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded && code != codes.Canceled {
			return nil // an answer of any kind shows that the plugin is there
		}
	}
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("connect to %s on port %d: %s", h.name, port, status.Convert(err).Message())
}

func (h *host) stop() {
	if h.conn != nil {
		_ = h.conn.Close() // only fails when it is closed already
	}
	if h.process != nil {
		h.process.Stop()
	}
}

// output shows what the plugin writes. Between runs there is nobody to show it to: it is kept for the next run.
type output struct {
	name string

	mu      sync.Mutex // guards the fields below
	show    func(plugin.Line)
	waiting []plugin.Line
}

// maxWaiting bounds what is kept between runs; the rest is dropped.
const maxWaiting = 1000

func (o *output) line(l plugin.Line) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.show != nil:
		o.show(l)
	case len(o.waiting) < maxWaiting:
		o.waiting = append(o.waiting, l)
	}
}

func (o *output) showTo(ctx context.Context, m stages.Monitor) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.show = direct.Forward(ctx, m, o.name)
	for _, l := range o.waiting {
		o.show(l)
	}
	o.waiting = nil
}

func (o *output) hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.show = nil
}
