package host

import (
	"context"
	"errors"
)

// Host owns the plugins that it starts, and the service that programs and plugins call. Make one with [Open].
type Host struct {
	// Service is for the options of operations.
	Service *EngineService
	// Plugins starts provider plugins.
	Plugins *PluginHost
	options PluginOptions
}

// Open returns a host with these options. It starts nothing: the service listens when the first program or plugin is started that gets its address.
// The end of ctx stops the service as Close does. Close must be called in any case.
func Open(ctx context.Context, o PluginOptions) *Host {
	h := &Host{Service: newEngineService(ctx)}
	o.service = h.Service
	h.options, h.Plugins = o, newPluginHost(o, true)
	h.Service.plugins = h.Plugins
	return h
}

// Options returns the options of the host, for programs and policy packs: what is started with them calls the host's service.
func (h *Host) Options() PluginOptions { return h.options }

// Close ends the plugins that still run, then the service.
func (h *Host) Close() error { return errors.Join(h.Plugins.Close(), h.Service.close()) }
