package providers

import "context"

// Host finds and starts providers. Load may be called from many goroutines; each call starts an instance of its own,
// which the caller closes (protocol.md 1.13: one process for each provider resource).
type Host interface {
	Load(ctx context.Context, spec Spec) (Provider, error)
}

// Preparer is a host that can make providers available before they are loaded.
type Preparer interface {
	// Prepare makes them available, all at the same time, and returns those that take time to start.
	Prepare(ctx context.Context, specs []Spec) []Spec
}

// Spec says which provider to start.
type Spec struct {
	Package          string            // name of the package to serve
	Plugin           string            // name of the plugin where it is not that of the package; not for a Parameterization
	Version          string            // of the package; "" means any
	DownloadURL      string            // where a missing plugin can be obtained; "" is the public host
	Checksums        map[string][]byte // "<os>-<arch>" -> SHA-256
	Parameterization *Parameterization
	// Recorded is true if the recorded state alone names DownloadURL. Whoever can write the state must not be able to start
	// programs, so a host must not obtain a plugin from there unless the user asks for it.
	Recorded bool
	// Exact is true if somebody has written Version or DownloadURL for this program, and not for the SDK that it uses. Nothing but that
	// plugin may serve the package then.
	Exact bool
	// OnlySchema is true if the provider will be asked for nothing but its schema. A host may remember the answer of an earlier
	// process then, and start none.
	OnlySchema bool
	// Environment maps names in the engine's environment to the names under which the plugin shall see their values (protocol.md 1.5).
	Environment map[string]string
}

// Parameterization makes a plugin serve another package: Plugin and PluginVersion say which plugin to start, Value is
// handed to it (protocol.md 1.12).
type Parameterization struct {
	Plugin, PluginVersion string
	Value                 []byte
}

// HostFunc makes a Host of a function.
type HostFunc func(ctx context.Context, spec Spec) (Provider, error)

// Load calls the function.
func (f HostFunc) Load(ctx context.Context, spec Spec) (Provider, error) { return f(ctx, spec) }
