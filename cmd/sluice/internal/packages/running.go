package packages

import (
	"context"
	"errors"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
)

// Running is the started provider of a package. It is not configured.
type Running struct {
	providers.Provider
	host *host.Host
}

// Start starts the provider of a package that r has read. show receives the messages of the provider, from several goroutines. The caller closes
// what Start returns.
func Start(ctx context.Context, r *Reader, p *Package, show func(stages.LogMessage)) (*Running, error) {
	if p.Entry == nil {
		return nil, exit.Usagef("%s is a schema, and not a provider", p.Name)
	}
	at, err := placeOf(r.Options, *p.Entry)
	if err != nil {
		return nil, err
	}
	running := &Running{host: host.Open(ctx, at.options)}
	running.host.Service.Attach(show)
	running.Provider, err = running.host.Plugins.Load(ctx, at.spec)
	if of := made(append(p.Entry.Parameters, p.Entry.Extensions...)); err == nil && of != nil { // only one of them is set
		_, err = running.Provider.Parameterize(ctx, *of)
	}
	if err != nil {
		return nil, errors.Join(err, running.host.Close())
	}
	return running, nil
}

// Close ends the provider, and the service that it calls.
func (r *Running) Close() error { return r.host.Close() }
