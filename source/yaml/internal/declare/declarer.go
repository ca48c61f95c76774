package declare

import (
	"fmt"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/check"
	"github.com/sluice-iac/sluice/source/yaml/internal/eval"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Declarer declares the resources of one program. It is safe for many goroutines.
type Declarer struct {
	in       Inputs
	siblings map[string]bool // in a component: the logical names of its resources
}

// Inputs are the inputs of a declarer.
type Inputs struct {
	Evaluator *eval.Evaluator
	Resources *eval.Resources // the declarer adds the declared resources
	Monitor   *eval.Monitor
	Report    *syntax.Report
	Types     map[*bind.Node]check.Type
	Owner     eval.Owner
	// Declared is called for each resource before it is registered or read, so that its place is known if that fails.
	Declared func(urn.URN, *ast.Resource)
	// Turn waits until it is the resource's turn to register.
	Turn func(*bind.Node) *stages.Ordered
}

// New returns a declarer for the resources of a template.
func New(t *ast.Template, in Inputs) *Declarer {
	d := &Declarer{in: in, siblings: map[string]bool{}}
	if in.Owner.Instance != "" {
		for _, r := range t.Resources {
			d.siblings[r.LogicalName()] = true
		}
	}
	return d
}

// declaration is the declaration of one resource.
type declaration struct {
	declarer   *Declarer
	node       *bind.Node
	typ        check.Type
	request    *stages.RegisterRequest
	properties map[string]property.Value
	dependsOn  []urn.URN
}

// Declared is a resource that the program declares.
type Declared struct {
	URN urn.URN
	// Made is nil for a resource that failed or was skipped, or that could not be registered because others were not made. Expressions that
	// refer to it cannot be evaluated. The engine has reported the reason.
	Made *eval.Resource
}

// Declare registers a resource, or reads it, and waits for the answer. If the resource cannot be registered because others were not made,
// Declare omits it. The error is [syntax.ErrReported].
func (d *Declarer) Declare(n *bind.Node) (Declared, error) {
	one := &declaration{declarer: d, node: n, typ: d.in.Types[n]}
	one.begin()
	failed := one.evaluate()
	o := &options{evaluator: d.in.Evaluator, report: d.in.Report, node: n, schema: one.typ.Schema, request: one.request}
	if err := o.apply(); failed == nil {
		failed = err
	}
	one.dependsOn = o.dependsOn
	isRead := n.Resource.Get != nil || one.request.Type == eval.StackReferenceType
	var id property.Value
	if isRead {
		var err error
		if id, err = one.identify(); failed == nil {
			failed = err
		}
	}
	if failed != nil {
		unmade := d.in.Evaluator.MissingFor(n)
		omitted := Declared{URN: one.omit(unmade)}
		if len(unmade) > 0 {
			return omitted, nil
		}
		return Declared{}, failed // a mistake in the program, which the evaluator has reported
	}
	d.in.Declared(one.request.Parent.Child(one.request.Type, one.request.Name), n.Resource)
	if isRead {
		return one.read(id)
	}
	return one.register()
}

// begin makes the part of the request that needs no evaluation.
func (d *declaration) begin() {
	r := d.node.Resource
	d.request = &stages.RegisterRequest{
		Type: urn.Type(d.typ.Token), Name: d.name(), Parent: d.declarer.in.Owner.URN, Aliases: d.olderNames(), Custom: true, AliasSpecs: true,
		SupportsResultReporting: true, ImportID: r.Options.Import.Value, PackageRef: d.typ.PackageRef,
		Package: stages.Package{
			Name: ast.PackageOf(d.typ.Token), Version: r.Options.Version.Value, DownloadURL: r.Options.PluginDownloadURL.Value,
		},
	}
	if d.typ.Schema != nil && d.typ.Schema.IsComponent {
		d.request.Custom, d.request.Remote = false, true
	}
	if p := d.node.DefaultProvider; p != nil && !r.Options.Version.IsGiven() {
		d.request.Package.Version = p.Resource.Options.Version.Value
	}
	if d.request.Package.Version != "" || d.request.Package.DownloadURL != "" {
		d.request.PackageRef = ""
	}
}

// name returns the name under which the resource is registered. In a component, the instance's name is its prefix.
func (d *declaration) name() string {
	if d.declarer.in.Owner.Instance == "" {
		return d.node.Resource.LogicalName()
	}
	return d.declarer.in.Owner.Instance + "-" + d.node.Resource.LogicalName()
}

// olderNames returns the name that a component's resource had before the names of instances became prefixes, as an alias. It returns none
// if another resource of the component has that name now (protocol.md 11.11).
func (d *declaration) olderNames() []urn.Alias {
	if d.declarer.in.Owner.Instance == "" || d.declarer.siblings[d.name()] {
		return nil
	}
	return []urn.Alias{{URN: d.declarer.in.Owner.URN.Child(urn.Type(d.typ.Token), d.node.Resource.LogicalName())}}
}

// omit reports to the engine that the resource is not registered, because others were not made. There are none of them if an expression of
// the program has failed.
func (d *declaration) omit(unmade []urn.URN) urn.URN {
	if parent, ok := d.declarer.in.Evaluator.Unmade(d.node.Resource.Options.Parent); ok {
		d.request.Parent = parent
	}
	return d.declarer.in.Monitor.Omit(d.request, unmade)
}

// register registers the resource and waits for its outcome.
func (d *declaration) register() (Declared, error) {
	req := d.request
	req.PropertyDependencies = make(map[string][]urn.URN, len(d.properties))
	deps := d.dependsOn
	inputs := values.WithoutNulls(d.properties)
	for name, v := range inputs {
		own := d.properties[name].OutputDependencies()
		if own == nil {
			own = []urn.URN{}
		}
		req.PropertyDependencies[name] = own
		deps = values.Union(deps, own)
		if !req.Remote { // a remote component gets the dependencies of each part of a value
			inputs[name] = v.DowngradeOutputs()
		}
	}
	req.Dependencies, req.Inputs = values.Sorted(deps), property.NewMap(inputs)
	req.Ordered = d.declarer.in.Turn(d.node)
	reply, err := d.declarer.in.Monitor.Register(d.node.At, req)
	if err != nil {
		return Declared{}, err
	}
	return d.made(reply, !req.Remote), nil
}

// read reads the object with an ID; the properties are its known state.
func (d *declaration) read(id property.Value) (Declared, error) {
	req := d.request
	deps := values.Union(d.dependsOn, id.OutputDependencies())
	known := values.WithoutNulls(d.properties)
	for name, v := range known {
		deps = values.Union(deps, d.properties[name].OutputDependencies())
		known[name] = v.DowngradeOutputs()
	}
	plain, _ := values.UnmarkDeep(id)
	reply, err := d.declarer.in.Monitor.Read(d.node.At, &stages.ReadRequest{
		Type: req.Type, Name: req.Name, ID: plain, Parent: req.Parent, Properties: property.NewMap(known),
		Dependencies: values.Sorted(deps), Provider: req.Provider, Package: req.Package, PackageRef: req.PackageRef,
		AdditionalSecretOutputs: req.AdditionalSecretOutputs, Ordered: d.declarer.in.Turn(d.node),
	})
	if err != nil {
		return Declared{}, err
	}
	if reply.ID == "" && plain.IsString() {
		reply.ID = plain.AsString()
	}
	return d.made(reply, true), nil
}

// made returns the resource of a reply.
func (d *declaration) made(reply *stages.RegisterReply, custom bool) Declared {
	if reply.Result != stages.Success {
		return Declared{URN: reply.URN}
	}
	made := &eval.Resource{
		URN: reply.URN, Type: d.request.Type, Outputs: reply.Outputs, Dependencies: reply.PropertyDependencies,
		Unknown: reply.Unknown, Pending: custom && reply.ID == "", Schema: d.typ.Schema,
	}
	switch {
	case !custom:
	case reply.ID == "" || reply.ID == urn.UnknownID:
		made.ID = property.Computed()
	default:
		made.ID = property.String(reply.ID)
	}
	d.declarer.in.Resources.Add(made)
	return Declared{URN: made.URN, Made: made}
}

// evaluate evaluates the inputs of the resource.
func (d *declaration) evaluate() error {
	r := d.node.Resource
	var err error
	if r.PropertiesExpr != nil {
		d.properties, err = d.whole()
	} else {
		d.properties, err = d.each(r.Properties)
	}
	if d.typ.Schema != nil && r.Get == nil {
		for name, p := range d.typ.Schema.Outputs {
			if _, given := d.properties[name]; p.Const != nil && !given {
				constant, invalid := property.FromGo(p.Const)
				if invalid != nil {
					return fmt.Errorf("the constant of property %s in the schema: %w", name, invalid)
				}
				d.properties[name] = constant
			}
		}
	}
	return err
}

// each evaluates all written-out properties, and returns the first error.
func (d *declaration) each(ps []ast.Property) (map[string]property.Value, error) {
	out := map[string]property.Value{}
	var first error
	for _, p := range ps {
		v, err := d.declarer.in.Evaluator.Eval(p.Value)
		if first == nil {
			first = err
		}
		out[p.Name.Value] = secretInput(d.typ.Schema, p.Name.Value, v)
	}
	return out, first
}

// whole evaluates properties that are one expression. If its value is unknown, so are all possible inputs.
func (d *declaration) whole() (map[string]property.Value, error) {
	x, s := d.node.Resource.PropertiesExpr, d.typ.Schema
	out := map[string]property.Value{}
	v, err := d.declarer.in.Evaluator.Eval(x)
	if err != nil {
		return out, err
	}
	inner, marks := values.Unmark(v)
	switch {
	case inner.IsUnknown():
		if s != nil {
			for name := range s.Inputs {
				out[name] = secretInput(s, name, v)
			}
		}
	case inner.IsMap():
		for name, item := range inner.AsMap().All() {
			out[name] = secretInput(s, name, marks.Mark(item))
		}
	default:
		return out, d.declarer.in.Report.Fail(x.Range(), "", "the properties of a resource must be an object, not %s", values.Describe(inner))
	}
	return out, nil
}

// secretInput makes the value of a property secret if the schema requires it.
func secretInput(s *schema.Resource, name string, v property.Value) property.Value {
	if s == nil || s.Inputs[name] == nil || !s.Inputs[name].Secret || v.IsNull() {
		return v
	}
	return values.Secret(v)
}

// identify evaluates the ID of the object to read, and sets the properties to the known part of its state. The ID of a stack reference is
// the name of its stack.
func (d *declaration) identify() (id property.Value, err error) {
	r := d.node.Resource
	if r.Get == nil {
		return d.stackName()
	}
	id, err = d.declarer.in.Evaluator.Eval(r.Get.ID)
	if plain, _ := values.UnmarkDeep(id); err == nil && !plain.IsString() && !plain.IsUnknown() {
		err = d.declarer.in.Report.Fail(r.Get.ID.Range(), "", "the ID of a resource must be a string, not %s", values.Describe(plain))
	}
	state, failed := d.each(r.Get.State)
	if err == nil {
		err = failed
	}
	d.properties = state
	return id, err
}

// stackName returns the name of the stack that a stack reference reads.
func (d *declaration) stackName() (property.Value, error) {
	name, given := d.properties["name"]
	if !given {
		name = property.String(d.node.Resource.Key.Value)
		d.properties["name"] = name
	}
	if plain, _ := values.UnmarkDeep(name); !plain.IsString() && !plain.IsUnknown() {
		return name, d.declarer.in.Report.Fail(d.node.Resource.PropertiesAt, "", "the name of a stack must be a string, not %s", values.Describe(plain))
	}
	return name, nil
}
