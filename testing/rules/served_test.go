package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
)

// serving returns the service of a host, at which other processes can call the monitor.
func serving(t *testing.T) *host.EngineService {
	t.Helper()
	h := host.Open(t.Context(), host.PluginOptions{})
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h.Service
}

// callable is a program that looks up where other processes can call the monitor.
type callable struct {
	source.Program
	address string
	err     error
}

func (p *callable) Run(ctx context.Context, h source.Host) error {
	if p.address, p.err = h.MonitorService.Address(); p.err == nil {
		_, p.err = h.MonitorService.SocketAddress()
	}
	return p.Program.Run(ctx, h)
}

// What starts other processes serves the monitor to them. The engine does not, so that a program without other processes links no protocol.
func TestOtherProcessesCallWhatTheirHostServes(t *testing.T) {
	for name, by := range map[string]func(*sluice.Options, source.MonitorServer){
		"nothing":       nil,
		"the service":   func(o *sluice.Options, _ source.MonitorServer) { o.Service = serving(t) },
		"the providers": func(o *sluice.Options, s source.MonitorServer) { o.Providers = servingHost{o.Providers, s} },
		"the program":   func(o *sluice.Options, s source.MonitorServer) { o.Program = servingProgram{o.Program, s} },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			var token providers.StatusToken
			var noToken error
			k.fake = func(f *providertest.Fake) {
				f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
					token, noToken = r.Status.Token()
					return f.Base.Create(ctx, r)
				}
			}
			p := &callable{Program: program(one(in{"size": 1}))}
			o := k.options
			o.Program = p
			if by != nil {
				by(&o, serving(t))
			}
			_, err := sluice.Update(t.Context(), o)
			require.NoError(t, err)
			require.NotEmpty(t, k.recorded("a").ID)
			if by == nil {
				for _, err := range []error{p.err, noToken} {
					require.ErrorIs(t, err, providers.ErrUnserved)
					require.ErrorContains(t, err, "set Options.Service")
				}
				return
			}
			require.NoError(t, p.err)
			require.NoError(t, noToken)
			require.Equal(t, p.address, token.Address)
			require.NotEmpty(t, token.Token)
		})
	}
}

type servingHost struct {
	providers.Host
	source.MonitorServer
}

type servingProgram struct {
	source.Program
	source.MonitorServer
}
