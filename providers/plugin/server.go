package plugin

import (
	"context"
	"time"
)

// Server is a started plugin: a [Process], or a server that a language plugin runs. It must be stopped.
type Server interface {
	// Title names the plugin in messages: with its version, if that is known, and its location. LastOutput returns the last lines of its
	// output, below a heading; "" for none.
	Title() string
	LastOutput() string
	// Port returns the TCP port on which the plugin serves. It waits until the plugin has written it; see [PortInTime].
	Port(ctx context.Context) (int, error)
	// Exited returns an *[ExitError] once the plugin has ended, and nil before. AwaitExit waits for the end, and returns nil if ctx ends before; see
	// [ExitedSoon].
	Exited() error
	AwaitExit(ctx context.Context) error
	// OnExit calls f once the plugin has ended. It must not be called at the same time as Stop or Kill.
	OnExit(f func())
	// Stop asks the plugin to end, and ends it; Kill ends it at once. Both return when it and all processes that it started
	// have ended.
	Stop()
	Kill()
}

var _ Server = (*Process)(nil)

const (
	// portPatience is how long a plugin that is no provider may take to write its port: the first start of a language's tools may take minutes
	// (protocol.md 1.6).
	portPatience = 10 * time.Minute
	// exitPatience is how long to wait after a broken connection until the end of the plugin is known: the connection breaks first, and a busy machine
	// takes its time.
	exitPatience = 5 * time.Second
)

// PortInTime is Port of a server, for all plugins but providers: it waits for ten minutes at most ([protocol.md 1.6]).
//
// [protocol.md 1.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#16-the-port
func PortInTime(ctx context.Context, s Server) (int, error) {
	patience, cancel := context.WithTimeout(ctx, portPatience)
	defer cancel()
	return s.Port(patience)
}

// ExitedSoon is Exited of a server whose connection broke: if the server has ended, that becomes known within seconds, for which it waits.
func ExitedSoon(s Server) error {
	patience, cancel := context.WithTimeout(context.Background(), exitPatience)
	defer cancel()
	return s.AwaitExit(patience)
}

// Written is a plugin without an executable of its own: one in source form ([protocol.md 1.10]), or the provider of dynamic
// resources, which is part of a language's SDK.
//
// [protocol.md 1.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#110-plugins-in-a-language
type Written struct {
	Kind        Kind
	Name        string // of the plugin, without its kind
	Directory   string // has the file PulumiPlugin.yaml; "" for a provider of dynamic resources
	Args        []string
	Environment []string   // all of it, "NAME=value"
	Output      func(Line) // receives its output after its port; nil discards
}
