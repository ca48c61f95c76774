package providers

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/sluice-iac/sluice/property"
)

// Host finds and starts providers. Load may be called from many goroutines; each call starts an instance of its own,
// which the caller closes ([protocol.md 1.13]: one process for each provider resource).
//
// [protocol.md 1.13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#113-end
type Host interface {
	Load(ctx context.Context, spec Spec) (Provider, error)
}

// Preparer is a host that can make providers available before they are loaded.
type Preparer interface {
	// Prepare makes the providers available, all at the same time, and returns those that are slow to start.
	Prepare(ctx context.Context, specs []Spec) []Spec
}

// Spec defines which provider to start.
type Spec struct {
	Package          string            // name of the package to serve
	Plugin           string            // name of the plugin if it differs from that of the package; not for a Parameterization
	Version          string            // of the package; "" means any
	DownloadURL      string            // where a missing plugin can be obtained; "" is the public host
	Checksums        map[string][]byte // "<os>-<arch>" -> SHA-256
	Parameterization *Parameterization
	// Recorded is true if only the recorded state names DownloadURL. Write access to the state must not be enough to start
	// programs, so a host must not download a plugin from there unless the user has approved it.
	Recorded bool
	// Exact is true if Version or DownloadURL was written for this program, and not for the SDK that it uses. Only that plugin may
	// serve the package then.
	Exact bool
	// OnlySchema is true if only the schema of the provider is needed. A host may then return the stored answer of an earlier
	// process, and start none.
	OnlySchema bool
	// Environment maps names in the engine's environment to the names of the same variables in the plugin's environment (protocol.md
	// 1.5).
	Environment map[string]string
}

// name returns the name and the version of the package.
func (s Spec) name() string {
	if s.Version == "" {
		return s.Package
	}
	return s.Package + " " + s.Version
}

// Key returns a text that is equal for two specs of the same provider, whoever names it.
func (s Spec) Key() string {
	if len(s.Checksums) == 0 {
		s.Checksums = nil
	}
	if len(s.Environment) == 0 {
		s.Environment = nil
	}
	s.Recorded, s.Exact = false, false
	key, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("a spec is not JSON: %v", err)) // it consists of texts
	}
	return string(key)
}

// Inputs returns the inputs of a provider resource with the spec s and the given configuration: the inverse of
// [SpecFromInputs]. Engine-owned keys that config already has are replaced.
func (s Spec) Inputs(config property.Map) property.Map {
	out := config.Mutable()
	delete(out, VersionKey)
	delete(out, InternalKey)
	if s.Version != "" {
		out[VersionKey] = property.String(s.Version)
	}
	// With a version the object is written even if it is empty: without it, other keys of the configuration would be read like those in
	// states of old engines.
	if internal := s.internal(); len(internal) > 0 || s.Version != "" {
		out[InternalKey] = property.Of(property.NewMap(internal))
	}
	return property.NewMap(out)
}

func (s Spec) internal() map[string]property.Value {
	m := map[string]property.Value{}
	set := func(key, text string) {
		if text != "" {
			m[key] = property.String(text)
		}
	}
	set(downloadURLKey, s.DownloadURL)
	set(nameKey, s.Plugin)
	if p := s.Parameterization; p != nil {
		set(nameKey, p.Plugin)
		set(VersionKey, p.PluginVersion)
		m[parameterizationKey] = property.String(base64.StdEncoding.EncodeToString(p.Value))
	}
	sums := make(map[string]property.Value, len(s.Checksums))
	for platform, sum := range s.Checksums {
		sums[platform] = property.String(hex.EncodeToString(sum))
	}
	if len(sums) > 0 {
		m[checksumsKey] = property.Of(property.NewMap(sums))
	}
	environment := make(map[string]property.Value, len(s.Environment))
	for from, to := range s.Environment {
		environment[from] = property.String(to)
	}
	if len(environment) > 0 {
		m[environmentKey] = property.Of(property.NewMap(environment))
	}
	return m
}

// Parameterization makes a plugin serve another package: Plugin and PluginVersion name the plugin to start, and Value
// is its parameter ([protocol.md 1.12]).
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
type Parameterization struct {
	Plugin, PluginVersion string
	Value                 []byte
}

// HostFunc makes a Host of a function.
type HostFunc func(ctx context.Context, spec Spec) (Provider, error)

// Load calls the function.
func (f HostFunc) Load(ctx context.Context, spec Spec) (Provider, error) { return f(ctx, spec) }
