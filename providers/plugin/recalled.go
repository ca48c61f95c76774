package plugin

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/providers"
)

// recalled is an installed plugin of which only the schema is needed. It is started if the schema is not stored.
type recalled struct {
	providers.Unimplemented
	host *Host
	spec providers.Spec
	at   Location

	mu         sync.Mutex // guards the fields below; held during calls of the plugin
	extensions []providers.ParameterizeRequest
	plugin     providers.Provider // nil until it is started
}

// Parameterize succeeds without a call: the plugin is parameterized when it is started.
func (r *recalled) Parameterize(ctx context.Context, req providers.ParameterizeRequest) (providers.ParameterizeResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Args != nil { // only the plugin can interpret them
		p, err := r.started(ctx)
		if err != nil {
			return providers.ParameterizeResponse{}, err
		}
		return p.Parameterize(ctx, req)
	}
	r.extensions = append(r.extensions, req)
	return providers.ParameterizeResponse{Name: req.Name, Version: req.Version}, nil
}

// Schema returns the stored answer of an earlier process, or calls the plugin.
func (r *recalled) Schema(ctx context.Context, req providers.SchemaRequest) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plugin != nil {
		return r.plugin.Schema(ctx, req)
	}
	file := schemaFile(r.host.options.Home, r.at, r.spec, r.extensions)
	if text, ok := file.read(); ok {
		return text, nil
	}
	p, err := r.started(ctx)
	if err != nil {
		return "", err
	}
	text, err := p.Schema(ctx, req)
	if err != nil {
		return "", err
	}
	if err := file.write(text); err != nil {
		r.host.options.Log.Debug("a schema is not kept", "plugin", r.spec.Package, "error", err)
	}
	return text, nil
}

// started starts the plugin and makes it serve the package of Parameterize. The caller holds the lock.
func (r *recalled) started(ctx context.Context) (providers.Provider, error) {
	if r.plugin != nil {
		return r.plugin, nil
	}
	p, err := r.host.load(ctx, r.spec)
	if err != nil {
		return nil, err
	}
	for _, req := range r.extensions {
		is, err := p.Parameterize(ctx, req)
		if err == nil && is.Version != req.Version {
			err = fmt.Errorf("parameterize response version %q does not match expected version %q of package %q", is.Version, req.Version, req.Name)
		}
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	r.plugin = p
	return p, nil
}

// Close ends the plugin if it was started.
func (r *recalled) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plugin == nil {
		return nil
	}
	return r.plugin.Close()
}
