package listing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/direct"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/internal/text/similar"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Default is how many resources are listed if nobody says how many. If there are more, it is an error: nobody has said that so many are meant.
const Default = 1000

// Query says which resources a provider lists.
type Query struct {
	Type urn.Type
	// Provider is the recorded provider that is asked; nil is a provider with the settings of the stack.
	Provider *state.Resource
	Version  string   // of the plugin, if there is no Provider; "" is any
	Inputs   []string // NAME=VALUE
	// Limit is the maximal number of resources; 0 is none, below 0 it is Default.
	Limit int64
}

// Ask returns the resources that the provider lists. more is true if there are more than the limit.
func Ask(ctx context.Context, j *operate.Job, q Query) (list []providers.Listed, more bool, err error) {
	spec, settings, err := q.provider(j)
	if err != nil {
		return nil, false, err
	}
	err = j.Beforehand(ctx, func(ctx context.Context) error {
		plugins := host.NewPluginHost(operate.PluginOptions(j, j.Stack.Session.Project.Directory()))
		defer func() { _ = plugins.Close() }() // an error of an ending plugin changes nothing
		plugins.Prepare(ctx, []providers.Spec{spec})
		schema, inputs, err := q.read(ctx, plugins, spec)
		if err != nil {
			return err
		}
		inner, err := plugins.Load(ctx, spec)
		if err != nil {
			return err
		}
		defer func() { _ = inner.Close() }()
		p := &direct.Provider{Inner: inner, Schema: schema}
		note := func(text string) { fmt.Fprintln(j.Terminal.Err, text) }
		interrupted, err := direct.Interruptible(ctx, inner.Cancel, note, func(ctx context.Context) error {
			if err := p.Configure(ctx, settings); err != nil {
				return err
			}
			list, more, err = q.list(ctx, p, inputs)
			return err
		})
		if interrupted && err != nil {
			return exit.Cancelledf("the command was cancelled; nothing has been imported: %w", err)
		}
		return err
	})
	return list, more, err
}

// provider returns the plugin to start, and its settings.
func (q Query) provider(j *operate.Job) (providers.Spec, property.Map, error) {
	if q.Provider == nil {
		pkg := q.Type.Package()
		return providers.Spec{Package: pkg, Version: q.Version}, j.PackageSettings(pkg), nil
	}
	spec, err := providers.SpecFromInputs(q.Provider.Type, q.Provider.Inputs)
	j.Learn(q.Provider.Inputs)
	return spec, direct.WithoutPlugin(q.Provider.Inputs, spec.Version), err
}

// read reads the query by the schema of the package, as far as it has one.
func (q Query) read(ctx context.Context, plugins *host.PluginHost, spec providers.Spec) (*direct.Schema, property.Map, error) {
	schema := &direct.Schema{Name: spec.Package}
	var known *direct.Resource
	if text, err := providers.Schema(ctx, plugins, spec, nil); err == nil {
		if schema, err = direct.ReadSchema([]byte(text)); err != nil {
			return nil, property.Map{}, err
		}
		known = schema.Resources[string(q.Type)]
	}
	if known == nil { // the provider decides
		m, err := q.parse(schema, nil)
		return schema, m, err
	}
	inputs, can := known.Queries()
	if !can {
		return nil, property.Map{}, q.cannot()
	}
	m, err := q.parse(schema, &inputs)
	if err != nil {
		return nil, property.Map{}, err
	}
	for _, name := range inputs.Required {
		if _, given := m.Get(name); !given {
			return nil, property.Map{}, exit.Usagef("a list of %s needs --query %s=VALUE", q.Type, name)
		}
	}
	return schema, schema.Mark(m, inputs.Properties), nil
}

// parse parses the inputs of the query. known are those that the schema has; nil if it says nothing.
func (q Query) parse(s *direct.Schema, known *direct.Inputs) (property.Map, error) {
	out := map[string]property.Value{}
	for _, text := range q.Inputs {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return property.Map{}, exit.Usagef("--query: expected NAME=VALUE, got %q", text)
		}
		if _, twice := out[name]; twice {
			return property.Map{}, exit.Usagef("--query: %s is given twice", name)
		}
		var p *direct.Property
		if known != nil {
			if p = known.Properties[name]; p == nil {
				return property.Map{}, exit.Usagef("--query: %s", unknown(q.Type, name, known.Names()))
			}
		}
		v, err := s.Parse(p, value)
		if err != nil {
			return property.Map{}, exit.Usagef("--query: %s: %w", name, err)
		}
		out[name] = v
	}
	return property.NewMap(out), nil
}

func unknown(t urn.Type, name string, known []string) string {
	switch near := similar.Name(name, known); {
	case near != "":
		return fmt.Sprintf("a list of %s cannot be narrowed by %q; did you mean %q?", t, name, near)
	case len(known) == 0:
		return fmt.Sprintf("a list of %s cannot be narrowed", t)
	}
	return fmt.Sprintf("a list of %s cannot be narrowed by %q, but by %s", t, name, strings.Join(known, ", "))
}

// list asks the provider for one resource more than the limit, to find out whether there are more.
func (q Query) list(ctx context.Context, p *direct.Provider, inputs property.Map) (list []providers.Listed, more bool, err error) {
	limit := q.Limit
	if limit < 0 {
		limit = Default
	}
	ask := limit
	if limit > 0 {
		ask = limit + 1
	}
	list, more, err = p.List(ctx, &direct.Resource{Token: string(q.Type)}, inputs, ask, true)
	if errors.Is(err, providers.ErrUnsupported) {
		return nil, false, q.cannot()
	}
	if err != nil {
		return nil, false, fmt.Errorf("list the resources of type %s: %w", q.Type, err)
	}
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(l providers.Listed) bool { // one that was made meanwhile may shift others to the next page
		twice := seen[l.ID]
		seen[l.ID] = true
		return twice
	})
	if limit > 0 && int64(len(list)) > limit {
		list, more = list[:limit], true
	}
	if more && q.Limit < 0 {
		return nil, false, exit.Usagef("there are more than %d resources of type %s: --limit N imports N of them, --limit 0 all of them, and --query NAME=VALUE lists fewer",
			Default, q.Type)
	}
	return list, more, nil
}

// cannot is the error for a provider that lists nothing.
func (q Query) cannot() error {
	return exit.Usagef("the provider of the package %s cannot list resources of type %s. List them in a file, with IDs that you have from the tools of the provider, "+
		"and import it with --file", q.Type.Package(), q.Type)
}
