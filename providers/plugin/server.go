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
	// Port returns the TCP port on which the plugin serves. It waits until the plugin has written it.
	Port(ctx context.Context) (int, error)
	// Exited returns an *[ExitError] once the plugin has ended, and nil before. ExitedWithin waits up to the given time
	// for the end.
	Exited() error
	ExitedWithin(patience time.Duration) error
	// OnExit calls f once the plugin has ended. It must not be called at the same time as Stop or Kill.
	OnExit(f func())
	// Stop asks the plugin to end, and ends it; Kill ends it at once. Both return when it and all processes that it started
	// have ended.
	Stop()
	Kill()
}

var _ Server = (*Process)(nil)

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
