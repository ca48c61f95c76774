package yaml

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

const stackReferenceType urn.Type = "pulumi:pulumi:StackReference"

// makeResource registers a resource, or reads it. Everything about it is evaluated before it is given up, so that all of
// its mistakes are shown.
func (e *evaluation) makeResource(n *node) (*resource, error) {
	r := n.resource
	req := &stages.RegisterRequest{
		Type: urn.Type(n.token), Name: e.nameOf(r), Parent: e.parent, Aliases: e.olderNames(n), Custom: true, AliasSpecs: true, SupportsResultReporting: true,
		ImportID: r.Options.Import.Value, PackageRef: n.packageRef,
		Package: stages.Package{
			Name: packageOfToken(n.token), Version: r.Options.Version.Value, DownloadURL: r.Options.PluginDownloadURL.Value,
		},
	}
	if n.schema != nil && n.schema.IsComponent {
		req.Custom, req.Remote = false, true
	}
	if p := n.defaultProvider; p != nil && !r.Options.Version.IsGiven() {
		req.Package.Version = p.resource.Options.Version.Value
	}
	if req.Package.Version != "" || req.Package.DownloadURL != "" {
		req.PackageRef = ""
	}
	properties, err := e.properties(n)
	o := &options{evaluation: e, node: n, request: req}
	if failed := o.apply(); err == nil {
		err = failed
	}
	isRead := r.Get != nil || req.Type == stackReferenceType
	var id property.Value
	if isRead {
		var failed error
		if id, properties, failed = e.readWhat(n, properties); err == nil {
			err = failed
		}
	}
	if err != nil {
		return nil, err
	}
	if isRead {
		return e.read(n, req, id, properties, o.dependsOn)
	}
	return e.register(n, req, properties, o.dependsOn)
}

// nameOf is the name under which a resource is registered. In a component the instance's name stands before it.
func (e *evaluation) nameOf(r *ast.Resource) string {
	if e.component == "" {
		return r.LogicalName()
	}
	return e.component + "-" + r.LogicalName()
}

// olderNames are the names that a resource of a component had before instances had names of their own: unless another
// resource of the component has the name now (protocol.md 11.11).
func (e *evaluation) olderNames(n *node) []urn.Alias {
	if e.component == "" {
		return nil
	}
	if e.siblings[e.nameOf(n.resource)] {
		return nil
	}
	return []urn.Alias{{URN: e.parent.Child(urn.Type(n.token), n.resource.LogicalName())}}
}

// properties evaluates the inputs.
func (e *evaluation) properties(n *node) (map[string]property.Value, error) {
	r := n.resource
	out := map[string]property.Value{}
	var first error
	for _, p := range r.Properties {
		v, err := e.eval(p.Value)
		if err != nil && first == nil {
			first = err
		}
		out[p.Name.Value] = n.secretInput(p.Name.Value, v)
	}
	if r.PropertiesExpr != nil {
		var err error
		if out, err = e.wholeProperties(n); err != nil {
			return nil, err
		}
	}
	if n.schema != nil && r.Get == nil {
		for name, p := range n.schema.Outputs {
			if _, given := out[name]; p.Const != nil && !given {
				out[name] = property.Plain(p.Const)
			}
		}
	}
	return out, first
}

// secretInput makes the value of a property secret when the schema says that it is.
func (n *node) secretInput(name string, v property.Value) property.Value {
	if n.schema == nil || n.schema.Inputs[name] == nil || !n.schema.Inputs[name].Secret {
		return v
	}
	return peeled{secret: true}.wrap(v)
}

// wholeProperties evaluates properties that are one expression. When it is unknown, so is every input that there may be.
func (e *evaluation) wholeProperties(n *node) (map[string]property.Value, error) {
	x := n.resource.PropertiesExpr
	v, err := e.eval(x)
	if err != nil {
		return nil, err
	}
	p := peel(v)
	out := map[string]property.Value{}
	switch {
	case p.inner.IsUnknown():
		if n.schema != nil {
			for name := range n.schema.Inputs {
				out[name] = n.secretInput(name, v)
			}
		}
	case p.inner.IsMap():
		for name, item := range p.inner.AsMap().All() {
			out[name] = n.secretInput(name, p.wrap(item))
		}
	default:
		return nil, e.fail(x.Range(), "", "the properties of a resource must be an object, not %s", describe(p.inner))
	}
	return out, nil
}

// readWhat returns the ID and the state of what is to be read. A stack reference is read under the name of the stack.
func (e *evaluation) readWhat(n *node, properties map[string]property.Value) (property.Value, map[string]property.Value, error) {
	r := n.resource
	if r.Get == nil {
		name, given := properties["name"]
		if !given {
			name = property.String(r.Key.Value)
			properties["name"] = name
		}
		if plain, _ := flat(name); !plain.IsString() && !plain.IsUnknown() {
			return name, nil, e.fail(r.PropertiesAt, "", "the name of a stack must be a string, not %s", describe(plain))
		}
		return name, properties, nil
	}
	id, err := e.eval(r.Get.ID)
	if plain, _ := flat(id); err == nil && !plain.IsString() && !plain.IsUnknown() {
		err = e.fail(r.Get.ID.Range(), "", "the ID of a resource must be a string, not %s", describe(plain))
	}
	state := map[string]property.Value{}
	for _, p := range r.Get.State {
		v, failed := e.eval(p.Value)
		if err == nil {
			err = failed
		}
		state[p.Name.Value] = n.secretInput(p.Name.Value, v)
	}
	return id, state, err
}

// register registers a resource and waits for its outcome.
func (e *evaluation) register(n *node, req *stages.RegisterRequest, properties map[string]property.Value, dependsOn []urn.URN) (*resource, error) {
	req.PropertyDependencies = make(map[string][]urn.URN, len(properties))
	deps := dependsOn
	for name, v := range properties {
		own := v.OutputDependencies()
		if own == nil {
			own = []urn.URN{}
		}
		req.PropertyDependencies[name] = own
		deps = union(deps, own)
		if !req.Remote { // what a provider constructs learns what each part of a value depends on
			properties[name] = v.DowngradeOutputs()
		}
	}
	req.Dependencies, req.Inputs = sorted(deps), property.NewMap(properties)
	reply, err := e.monitor.Register(e.ctx, req)
	if err != nil {
		return nil, e.refused(n.at, err)
	}
	return e.remember(n, req.Type, req.Name, reply, !req.Remote)
}

func (e *evaluation) read(n *node, req *stages.RegisterRequest, id property.Value, state map[string]property.Value, dependsOn []urn.URN) (*resource, error) {
	deps := union(dependsOn, id.OutputDependencies())
	for name, v := range state {
		deps = union(deps, v.OutputDependencies())
		state[name] = v.DowngradeOutputs()
	}
	plain, _ := flat(id)
	reply, err := e.monitor.Read(e.ctx, &stages.ReadRequest{
		Type: req.Type, Name: req.Name, ID: plain, Parent: req.Parent, Properties: property.NewMap(state), Dependencies: sorted(deps),
		Provider: req.Provider, Package: req.Package, PackageRef: req.PackageRef, AdditionalSecretOutputs: req.AdditionalSecretOutputs,
	})
	if err != nil {
		return nil, e.refused(n.at, err)
	}
	if reply.ID == "" && plain.IsString() {
		reply.ID = plain.AsString()
	}
	return e.remember(n, req.Type, req.Name, reply, true)
}

// remember makes a resource of the answer. One that failed or was skipped poisons what refers to it; the engine has said
// why.
func (e *evaluation) remember(n *node, typ urn.Type, name string, reply *stages.RegisterReply, custom bool) (*resource, error) {
	if reply.Result != stages.Success {
		return nil, errPoisoned
	}
	made := &resource{
		urn: reply.URN, typ: typ, name: name, outputs: reply.Outputs, deps: reply.PropertyDependencies, unknown: reply.Unknown,
		isPending: custom && reply.ID == "", schema: n.schema,
	}
	switch {
	case !custom:
	case reply.ID == "" || reply.ID == urn.UnknownID:
		made.id = property.Computed()
	default:
		made.id = property.String(reply.ID)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byURN[made.urn] = made
	return made, nil
}

func sorted(us []urn.URN) []urn.URN {
	us = slices.Clone(us)
	slices.Sort(us)
	return slices.Compact(us)
}

// resourceIn returns the resource that an option names. Its value must be the resource itself, known now.
func (e *evaluation) resourceIn(x ast.Expr, v property.Value, what string) (*resource, error) {
	p := peel(v)
	if !p.inner.IsReference() {
		hint := ""
		if p.inner.IsString() {
			hint = "write ${name} for the resource of that name"
		}
		return nil, e.fail(x.Range(), hint, "`%s` must be a resource, not %s", what, describe(p.inner))
	}
	return e.referenced(p.inner.AsReference().URN, x.Range())
}

// resourcesIn is resourceIn for a list.
func (e *evaluation) resourcesIn(x ast.Expr, what string) ([]*resource, error) {
	v, err := e.eval(x)
	if err != nil {
		return nil, err
	}
	p := peel(v)
	if !p.inner.IsArray() {
		return nil, e.fail(x.Range(), "put it between [ and ]", "`%s` must be a list of resources, not %s", what, describe(p.inner))
	}
	var out []*resource
	for i, item := range p.inner.AsArray().All() {
		at := x
		if list, ok := x.(*ast.List); ok {
			at = list.Items[i]
		}
		r, err := e.resourceIn(at, item, fmt.Sprintf("%s[%d]", what, i))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
