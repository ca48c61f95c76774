package eval

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/internal/text/syntax"
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

// walk is the walk along one access.
type walk struct {
	*walker
	access *syntax.Access
	inText bool // the value becomes a part of a text
}

// existence is the meaning of a property that an object does not have.
type existence uint8

const (
	// optional is for objects without a list of their properties: a missing property is null, except in a text.
	optional existence = iota
	// required is for objects whose properties are listed by the program or another stack: a missing property is a mistake.
	required
)

// value follows steps into a value. One that is not available has no parts, and is a mistake where another stack should have it. As a whole, another
// one goes to the engine, which refuses it where it is needed.
func (w walk) value(v property.Value, steps []syntax.Step, e existence) (property.Value, error) {
	if why, ok := v.IsUnavailable(); ok && (len(steps) > 0 || e == required) {
		return property.Null, w.report.Fail(w.access.Range, "", "%s", why)
	}
	if len(steps) == 0 {
		return v, nil
	}
	in, marks := values.Unmark(v)
	if isFromStack(marks) {
		e = required
	}
	var found property.Value
	var err error
	switch {
	case in.IsUnknown():
		found = property.Computed()
	case in.IsReference():
		var r *Resource
		if r, err = w.resources.find(in.AsReference().URN, w.access.Range); err == nil {
			found, err = w.resource(r, steps)
		}
	default:
		if found, err = w.step(in, steps, marks.Secret, e); err == nil {
			found, err = w.value(found, steps[1:], e)
		}
	}
	if err != nil {
		return property.Null, err
	}
	return marks.Mark(found), nil
}

// isFromStack reports whether a value depends only on other stacks.
func isFromStack(m values.Marks) bool {
	return len(m.Dependencies) > 0 && !slices.ContainsFunc(m.Dependencies, func(u urn.URN) bool { return u.Type() != StackReferenceType })
}

// step returns a property or an element of a known value.
func (w walk) step(in property.Value, steps []syntax.Step, secret bool, e existence) (property.Value, error) {
	step, at := steps[0], w.access.Range
	switch {
	case in.IsMap() && step.IsIndex:
		return property.Null, w.report.Fail(at, fmt.Sprintf("write [%q] for the property of that name", fmt.Sprint(step.Index)),
			"an object has no element %d: its properties have names", step.Index)
	case in.IsMap():
		v, has := in.AsMap().Get(step.Name)
		if has || e == optional && !w.inText {
			return v, nil
		}
		var names []string
		if !secret {
			names = in.AsMap().Names()
		}
		return property.Null, w.missing(steps, names)
	case in.IsArray() && !step.IsIndex:
		return property.Null, w.report.Fail(at, "write [0] for the first element",
			"a list has no property %q: its elements have numbers", step.Name)
	case in.IsArray():
		if n := in.AsArray().Len(); step.Index < 0 || step.Index >= n {
			return property.Null, w.report.Fail(at, "", "%s", values.NoElement(step.Index, n))
		}
		return in.AsArray().At(step.Index), nil
	}
	if in.IsNull() {
		return property.Null, w.report.Fail(at, "", "%s is null, so it has no %s", w.before(steps), textOf(step))
	}
	return property.Null, w.report.Fail(at, "", "%s has no properties and no elements", values.Describe(in))
}

// textOf describes what a step leads to.
func textOf(s syntax.Step) string {
	if s.IsIndex {
		return fmt.Sprintf("element %d", s.Index)
	}
	return fmt.Sprintf("property %q", s.Name)
}

// before returns the part of the access before its last steps.
func (w walk) before(steps []syntax.Step) *syntax.Access {
	return &syntax.Access{Root: w.access.Root, Steps: w.access.Steps[:len(w.access.Steps)-len(steps)]}
}

// missing reports a missing property: the first of the remaining steps.
func (w walk) missing(steps []syntax.Step, names []string) error {
	return w.report.Fail(w.access.Range, syntax.Nearest(steps[0].Name, names), "%s has no property %q", w.before(steps), steps[0].Name)
}

// resource follows steps into a resource.
func (w walk) resource(r *Resource, steps []syntax.Step) (property.Value, error) {
	if len(steps) == 0 {
		return r.reference(), nil
	}
	step := steps[0]
	if step.IsIndex {
		return property.Null, w.report.Fail(w.access.Range, "", "a resource has no element %d: its properties have names", step.Index)
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
	case r.Type == StackReferenceType, w.inText && !r.declares(step.Name):
		return property.Null, w.missing(steps, r.Outputs.Names())
	}
	if v, err := w.ofStack(r, v, steps); err != nil {
		return v, err
	}
	e := optional
	if r.Type == StackReferenceType {
		e = required
	}
	found, err := w.value(v, steps[1:], e)
	if err != nil {
		return property.Null, err
	}
	return values.Marks{Dependencies: values.Union([]urn.URN{r.URN}, r.Dependencies[step.Name])}.Mark(found), nil
}

// ofStack reports a missing output of another stack.
func (w walk) ofStack(r *Resource, v property.Value, steps []syntax.Step) (property.Value, error) {
	if r.Type != StackReferenceType || steps[0].Name != "outputs" || len(steps) < 2 || steps[1].IsIndex {
		return v, nil
	}
	outputs, _ := values.Unmark(v)
	if _, has := outputs.AsMap().Get(steps[1].Name); has || outputs.IsUnknown() {
		return v, nil
	}
	name, _ := values.UnmarkDeep(r.Outputs.At("name"))
	return property.Null, noOutput(w.report, w.access.Range, name.AsString(), steps[1].Name, outputs.AsMap())
}

// noOutput reports a missing output of another stack.
func noOutput(report *syntax.Report, at syntax.Range, stack, output string, outputs property.Map) error {
	return report.Fail(at, syntax.Nearest(output, outputs.Names()), "the stack %s has no output %q", stack, output)
}
