package declare

import (
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
)

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
		v, err := d.Evaluator.Eval(p.Value)
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
	v, err := d.Evaluator.Eval(x)
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
		return out, d.Report.Fail(x.Range(), "", "the properties of a resource must be an object, not %s", values.Describe(inner))
	}
	return out, nil
}

// secretInput makes the value of a property secret if the schema requires it.
func secretInput(s *schema.Resource, name string, v property.Value) property.Value {
	if s == nil || s.Inputs[name] == nil || !s.Inputs[name].Secret {
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
	id, err = d.Evaluator.Eval(r.Get.ID)
	if plain, _ := values.UnmarkDeep(id); err == nil && !plain.IsString() && !plain.IsUnknown() {
		err = d.Report.Fail(r.Get.ID.Range(), "", "the ID of a resource must be a string, not %s", values.Describe(plain))
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
		return name, d.Report.Fail(d.node.Resource.PropertiesAt, "", "the name of a stack must be a string, not %s", values.Describe(plain))
	}
	return name, nil
}
