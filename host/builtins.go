package host

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/catalog"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source/tooling"
)

// BuiltinsKey is the key of the configuration whose value "false" turns the built-in providers off.
const BuiltinsKey = "sluice:builtinProviders"

// BuiltinProviders lists the packages that are served in process when no plugin of their name is installed.
func BuiltinProviders() []string { return catalog.All().Names() }

// IsBuiltin reports whether a provider is served in process when no plugin of its name is installed.
func IsBuiltin(spec providers.Spec) bool { return catalog.All().Serves(spec) }

// builtins serves built-in packages in process where no plugin serves them.
type builtins struct {
	plugins *plugin.Host
	catalog native.Catalog
	options native.Options
	debug   tooling.Debug
	note    func(message string, as ...advice.Advice)

	mu    sync.Mutex      // guards exact
	exact map[string]bool // packages that the program uses in a certain version or from a certain place
}

// newBuiltins returns the host of built-in providers and plugins, or that of plugins alone if o turns built-in providers off.
func newBuiltins(o PluginOptions, plugins *plugin.Host) pluginLoader {
	if o.refusesBuiltins() {
		return plugins
	}
	b := &builtins{plugins: plugins, exact: map[string]bool{}, catalog: catalog.All(), note: o.Note, debug: o.Debug, options: native.Options{
		Directory: o.Directory, LookupEnv: o.LookupEnv,
	}}
	if b.options.LookupEnv == nil {
		b.options.LookupEnv = os.LookupEnv
	}
	if b.note == nil {
		b.note = func(string, ...advice.Advice) {}
	}
	if o.service != nil {
		b.options.Log = o.service.nativeMessage
	}
	return b
}

// expect records the packages that the program uses in a certain version or from a certain place.
func (b *builtins) expect(specs []providers.Spec) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, spec := range specs {
		if spec.Exact {
			b.exact[spec.Package] = true
		}
	}
}

// serves reports whether spec is served in process: no plugin of its package or for spec is installed, and the project and the
// program give only the name of the package. If a plugin is installed in another version than the wanted one, the wanted version is
// installed and used: the built-in provider may differ from it.
func (b *builtins) serves(spec providers.Spec) bool {
	b.mu.Lock()
	exact := spec.Exact || b.exact[spec.Package]
	b.mu.Unlock()
	return !exact && b.catalog.Serves(spec) && !b.plugins.Installed(spec.Package)
}

// Prepare makes the plugin for spec available before it is loaded.
func (b *builtins) Prepare(ctx context.Context, spec providers.Spec) error {
	if b.serves(spec) {
		return nil
	}
	return b.plugins.Prepare(ctx, spec)
}

// Load starts a plugin, or the built-in provider if there is none.
func (b *builtins) Load(ctx context.Context, spec providers.Spec) (providers.Provider, error) {
	if !b.serves(spec) {
		return b.plugins.Load(ctx, spec)
	}
	if b.debug.Named(spec.Package) {
		return nil, tooling.NoPluginDebugger(spec.Package, "it is built in")
	}
	b.note(fmt.Sprintf("the package %q is built in and needs no plugin", spec.Package),
		advice.Advice{Action: advice.RefuseBuiltins, Plugin: advice.Plugin{Kind: string(plugin.Resource), Name: spec.Package}})
	return b.catalog.Load(spec, b.options), nil
}
