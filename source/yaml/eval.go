package yaml

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
	"github.com/sluice-iac/sluice/urn"
)

// eval returns the value of an expression. What is unknown or secret in it, and which resources it comes from, travels
// with the value. The error is errPoisoned or errFound. It may be called from many goroutines.
func (e *evaluation) eval(x ast.Expr) (property.Value, error) {
	switch x := x.(type) {
	case *ast.Literal:
		return x.Value, nil
	case *ast.Symbol:
		return e.access(x.Access)
	case *ast.Interpolation:
		return e.interpolate(x)
	case *ast.List:
		return e.list(x)
	case *ast.Object:
		return e.object(x)
	case *ast.Call:
		return e.call(x)
	case *ast.Invoke:
		return e.invoke(x)
	}
	panic(fmt.Sprintf("an expression of the type %T", x))
}

// evalAll evaluates all of them, so that everything that is wrong is found, and returns the first error.
func (e *evaluation) evalAll(xs []ast.Expr) ([]property.Value, error) {
	var first error
	out := make([]property.Value, len(xs))
	for i, x := range xs {
		v, err := e.eval(x)
		if err != nil && first == nil {
			first = err
		}
		out[i] = v
	}
	return out, first
}

func (e *evaluation) list(x *ast.List) (property.Value, error) {
	items, err := e.evalAll(x.Items)
	if err != nil {
		return property.Null, err
	}
	return property.ArrayOf(items...), nil
}

func (e *evaluation) object(x *ast.Object) (property.Value, error) {
	m := make(map[string]property.Value, len(x.Entries))
	var whole peeled
	var first error
	for _, entry := range x.Entries {
		k, err := e.eval(entry.Key)
		if err != nil {
			first = err
			continue
		}
		v, err := e.eval(entry.Value)
		if err != nil {
			first = err
			continue
		}
		plain, p := flat(k)
		whole = peeled{inner: plain, secret: whole.secret || p.secret, deps: union(whole.deps, p.deps)}
		if plain.IsUnknown() {
			return p.wrap(property.Computed()), nil
		}
		if !plain.IsString() {
			first = e.fail(entry.Key.Range(), "", "the key of an object must be a string, not %s", describe(plain))
			continue
		}
		m[plain.AsString()] = v
	}
	if first != nil {
		return property.Null, first
	}
	return whole.wrap(property.Of(property.NewMap(m))), nil
}

func (e *evaluation) interpolate(x *ast.Interpolation) (property.Value, error) {
	var b strings.Builder
	var whole peeled
	unknown := false
	for _, part := range x.Parts {
		b.WriteString(part.Text)
		if part.Access == nil {
			continue
		}
		v, err := e.access(part.Access)
		if err != nil {
			return property.Null, err
		}
		plain, p := flat(v)
		whole.secret, whole.deps = whole.secret || p.secret, append(whole.deps, p.deps...)
		if plain.IsUnknown() {
			unknown = true
			continue
		}
		s, ok := text(plain)
		if !ok {
			hint := ""
			if plain.IsReference() {
				hint = fmt.Sprintf("name what of it is meant: ${%s.id}", part.Access)
			}
			return property.Null, e.fail(part.Access.Range, hint, "%s cannot be put into a string", describe(plain))
		}
		if plain.IsNumber() {
			s = e.numberIn(part.Access, plain.AsNumber(), s)
		}
		b.WriteString(s)
	}
	whole.deps = sorted(whole.deps)
	if unknown {
		return whole.wrap(property.Computed()), nil
	}
	return whole.wrap(property.String(b.String())), nil
}

// numberIn is a number as it stands in a text: written otherwise it is text. Settings that are declared whole numbers have
// all their digits; of others a million has an exponent, which is how programs have always been deployed and what nobody
// expects (protocol.md 11.6).
func (e *evaluation) numberIn(a *syntax.Access, v float64, written string) string {
	if n := e.scope.find(a.Root); n != nil && n.isInteger {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if v == math.Trunc(v) && strings.Contains(written, "e") { // the number may be secret
		e.report(syntax.Diagnostic{Severity: syntax.Warning, Range: a.Range, Summary: "a number of a million or more is written with an exponent in a text, like 1e+06",
			Hint: "put it in quotes where it comes from, or make it a setting of the type integer"})
	}
	return written
}

// access returns what stands in "${...}".
func (e *evaluation) access(a *syntax.Access) (property.Value, error) {
	if a.Root == reserved {
		return e.walk(e.facts(), a.Steps, a)
	}
	n := e.scope.find(a.Root)
	switch {
	case n == nil || n.poisoned:
		return property.Null, errPoisoned
	case n.made != nil:
		return e.walkResource(n.made, a.Steps, a)
	}
	return e.walk(n.value, a.Steps, a)
}

// facts is the variable with what is known about the run.
func (e *evaluation) facts() property.Value {
	return property.Of(property.NewMap(map[string]property.Value{
		"cwd":           property.String(e.program.project.Directory),
		"organization":  property.String(e.info.Organization),
		"project":       property.String(e.info.Project),
		"rootDirectory": property.String(e.program.project.Root),
		"stack":         property.String(e.info.Stack),
	}))
}

// walk goes into a value. a is for messages.
func (e *evaluation) walk(v property.Value, steps []syntax.Step, a *syntax.Access) (property.Value, error) {
	if len(steps) == 0 {
		return v, nil
	}
	p := peel(v)
	step := steps[0]
	var next property.Value
	switch in := p.inner; {
	case in.IsUnknown():
		return p.wrap(property.Computed()), nil
	case in.IsNull():
		return p.wrap(property.Null), nil
	case in.IsReference():
		r, err := e.referenced(in.AsReference().URN, a.Range)
		if err != nil {
			return property.Null, err
		}
		found, err := e.walkResource(r, steps, a)
		if err != nil {
			return property.Null, err
		}
		return p.wrap(found), nil
	case in.IsMap() && step.IsIndex:
		return property.Null, e.fail(a.Range, fmt.Sprintf("write [%q] for the property of that name", fmt.Sprint(step.Index)),
			"an object has no element %d: its properties have names", step.Index)
	case in.IsMap():
		next = in.AsMap().At(step.Name)
	case in.IsArray() && !step.IsIndex:
		return property.Null, e.fail(a.Range, "write [0] for the first element", "a list has no property %q: its elements have numbers", step.Name)
	case in.IsArray():
		if n := in.AsArray().Len(); step.Index < 0 || step.Index >= n {
			return property.Null, e.fail(a.Range, "", "element %d is asked for of a list of %d; the first is 0", step.Index, n)
		}
		next = in.AsArray().At(step.Index)
	default:
		return property.Null, e.fail(a.Range, "", "%s has no properties and no elements", describe(in))
	}
	found, err := e.walk(next, steps[1:], a)
	if err != nil {
		return property.Null, err
	}
	return p.wrap(found), nil
}

// resource is a resource that was registered or read.
type resource struct {
	urn     urn.URN
	typ     urn.Type
	name    string
	id      property.Value // null for components
	outputs property.Map
	deps    map[string][]urn.URN // of the outputs of remote components
	unknown bool                 // everything about it is
	// isPending tells that the object is not made yet, so that outputs which are missing may still come.
	isPending bool
	schema    *schema.Resource // nil when it is not known
}

// reference is the resource as a value.
func (r *resource) reference() property.Value {
	return property.OutputOf(property.Output{
		Element: property.Of(property.Reference{URN: r.urn, ID: r.id}), Known: true, Dependencies: []urn.URN{r.urn},
	})
}

// mayHave tells whether an output that is missing in a preview may be there after the update.
func (r *resource) mayHave(output string) bool {
	if r.outputs.HasUnknowns() {
		return true
	}
	if r.schema == nil || len(r.schema.Outputs) == 0 {
		return r.isPending
	}
	return r.schema.Outputs[output] != nil
}

// providerRef is how registrations name the resource as their provider.
func (r *resource) providerRef() string {
	id := r.id.AsString()
	if id == "" {
		id = urn.UnknownID
	}
	return urn.ProviderRef{URN: r.urn, ID: id}.String()
}

// walkResource goes into a resource.
func (e *evaluation) walkResource(r *resource, steps []syntax.Step, a *syntax.Access) (property.Value, error) {
	if len(steps) == 0 {
		return r.reference(), nil
	}
	step := steps[0]
	if step.IsIndex {
		return property.Null, e.fail(a.Range, "", "a resource has no element %d: its properties have names", step.Index)
	}
	own := peeled{deps: []urn.URN{r.urn}}
	var v property.Value
	switch out, has := r.outputs.Get(step.Name); {
	case step.Name == "urn":
		v = property.String(string(r.urn))
	case step.Name == "id" && r.unknown:
		v = property.Computed()
	case step.Name == "id":
		v = r.id
	case has:
		v = out
	case r.unknown || e.info.DryRun && r.mayHave(step.Name):
		v = property.Computed()
	}
	own.deps = union(own.deps, r.deps[step.Name])
	found, err := e.walk(v, steps[1:], a)
	if err != nil {
		return property.Null, err
	}
	return own.wrap(found), nil
}

// referenced returns the resource that a reference in some output means; one of another component is asked for.
func (e *evaluation) referenced(u urn.URN, at syntax.Range) (*resource, error) {
	e.mu.Lock()
	known := e.byURN[u]
	e.mu.Unlock()
	if known != nil {
		return known, nil
	}
	return e.hydrate(u, at)
}
