package sluice

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/catalog"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/stages"
)

// BuiltinsKey is the key of the configuration whose value "false" turns the built-in providers off.
const BuiltinsKey = "sluice:builtinProviders"

// BuiltinProviders lists the packages that are served in process when no plugin of their name is installed.
func BuiltinProviders() []string { return catalog.All().Names() }

// builtins serves in process what no plugin serves.
type builtins struct {
	plugins *plugin.Host
	catalog native.Catalog
	options native.Options
	note    func(message string)
}

// newBuiltins returns the host that o asks for: that of plugins alone if built-in providers are turned off.
func newBuiltins(o PluginOptions, plugins *plugin.Host) providers.Host {
	if o.NoBuiltins || o.Config[BuiltinsKey].Text == "false" {
		return plugins
	}
	b := &builtins{plugins: plugins, catalog: catalog.All(), note: o.Note, options: native.Options{
		Directory: o.Directory, LookupEnv: o.LookupEnv,
	}}
	if b.note == nil {
		b.note = func(string) {}
	}
	if o.Engine != nil {
		b.options.Log = o.Engine.nativeMessage
	}
	return b
}

func (e *EngineService) nativeMessage(m native.Message) {
	out := stages.LogMessage{Severity: stages.Info, Message: m.Text, URN: m.URN, Ephemeral: !m.Warning}
	if m.Warning {
		out.Severity = stages.Warning
	}
	e.log(out)
}

// Load prefers a plugin. One that is there in another version than the wanted one wins, too, which is its error: what is
// built in may differ from it in what it can do.
func (b *builtins) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	p, err := b.plugins.Load(ctx, spec)
	var missing *plugin.MissingError
	if !errors.As(err, &missing) || !b.catalog.Serves(spec) || b.plugins.Installed(spec.Package) {
		return p, err
	}
	b.note(fmt.Sprintf("no plugin for the package %q is installed; the built-in provider is used (--no-builtin-providers refuses it)",
		spec.Package))
	return b.catalog.Load(spec, b.options), nil
}
