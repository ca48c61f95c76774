package eval

import (
	"fmt"

	"github.com/sluice-iac/sluice/internal/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/urn"
)

// walker follows the steps of an access into values and resources.
type walker struct {
	resources *Resources
	report    *syntax.Report
	preview   bool
}

// value follows steps into a value. a is for messages.
func (w *walker) value(v property.Value, steps []syntax.Step, a *syntax.Access) (property.Value, error) {
	if len(steps) == 0 {
		return v, nil
	}
	in, marks := values.Unmark(v)
	var found property.Value
	var err error
	switch {
	case in.IsUnknown():
		found = property.Computed()
	case in.IsNull():
		found = property.Null
	case in.IsReference():
		var r *Resource
		if r, err = w.resources.find(in.AsReference().URN, a.Range); err == nil {
			found, err = w.resource(r, steps, a)
		}
	default:
		if found, err = w.step(in, steps[0], a); err == nil {
			found, err = w.value(found, steps[1:], a)
		}
	}
	if err != nil {
		return property.Null, err
	}
	return marks.Mark(found), nil
}

// step returns a property or an element of a known value.
func (w *walker) step(in property.Value, step syntax.Step, a *syntax.Access) (property.Value, error) {
	switch {
	case in.IsMap() && step.IsIndex:
		return property.Null, w.report.Fail(a.Range, fmt.Sprintf("write [%q] for the property of that name", fmt.Sprint(step.Index)),
			"an object has no element %d: its properties have names", step.Index)
	case in.IsMap():
		return in.AsMap().At(step.Name), nil
	case in.IsArray() && !step.IsIndex:
		return property.Null, w.report.Fail(a.Range, "write [0] for the first element",
			"a list has no property %q: its elements have numbers", step.Name)
	case in.IsArray():
		if n := in.AsArray().Len(); step.Index < 0 || step.Index >= n {
			return property.Null, w.report.Fail(a.Range, "", "element %d is asked for of a list of %d; the first is 0", step.Index, n)
		}
		return in.AsArray().At(step.Index), nil
	}
	return property.Null, w.report.Fail(a.Range, "", "%s has no properties and no elements", values.Describe(in))
}

// resource follows steps into a resource.
func (w *walker) resource(r *Resource, steps []syntax.Step, a *syntax.Access) (property.Value, error) {
	if len(steps) == 0 {
		return r.reference(), nil
	}
	step := steps[0]
	if step.IsIndex {
		return property.Null, w.report.Fail(a.Range, "", "a resource has no element %d: its properties have names", step.Index)
	}
	var v property.Value
	switch out, has := r.Outputs.Get(step.Name); {
	case step.Name == "urn":
		v = property.String(string(r.URN))
	case step.Name == "id" && r.Unknown:
		v = property.Computed()
	case step.Name == "id":
		v = r.ID
	case has:
		v = out
	case r.Unknown || w.preview && r.mayHave(step.Name):
		v = property.Computed()
	}
	found, err := w.value(v, steps[1:], a)
	if err != nil {
		return property.Null, err
	}
	return values.Marks{Dependencies: values.Union([]urn.URN{r.URN}, r.Dependencies[step.Name])}.Mark(found), nil
}
