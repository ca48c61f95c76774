package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/check"
	"github.com/sluice-iac/sluice/source/yaml/internal/functions"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
	"github.com/sluice-iac/sluice/urn"
)

// Evaluator evaluates expressions. Every error that it returns is [syntax.ErrReported]. It may be used by many goroutines.
type Evaluator struct {
	names     *Environment
	monitor   *Monitor
	report    *syntax.Report
	directory string
	walker    *walker
	stacks    *stacks

	// The following fields are set once the program is bound and checked.
	owner     Owner
	functions map[*ast.Invoke]check.Function
}

// Inputs are the inputs of an evaluator.
type Inputs struct {
	Names     *Environment
	Resources *Resources
	Monitor   *Monitor
	Report    *syntax.Report
	Directory string // for relative paths of files
	Preview   bool
}

// Owner is the owner of a program's resources.
type Owner struct {
	URN      urn.URN // of the stack or the component, the parent of resources that name none
	Instance string  // the name of the component, "" for the stack
}

// New returns an evaluator for expressions that need only settings. It has no functions of packages.
func New(in Inputs) *Evaluator {
	return &Evaluator{
		names: in.Names, monitor: in.Monitor, report: in.Report, directory: in.Directory,
		walker: &walker{in.Resources, in.Report, in.Preview}, stacks: &stacks{monitor: in.Monitor},
	}
}

// Checked returns an evaluator for all expressions of a checked program.
func (e *Evaluator) Checked(owner Owner, functions map[*ast.Invoke]check.Function) *Evaluator {
	all := *e
	all.owner, all.functions = owner, functions
	return &all
}

// Eval returns the value of an expression.
func (e *Evaluator) Eval(x ast.Expr) (property.Value, error) {
	switch x := x.(type) {
	case *ast.Literal:
		return x.Value, nil
	case *ast.Symbol:
		return e.access(x.Access, false)
	case *ast.Interpolation:
		return e.interpolate(x)
	case *ast.List:
		return e.list(x)
	case *ast.Object:
		return e.object(x)
	case *ast.Call:
		return e.call(x)
	case *ast.Invoke:
		f, known := e.functions[x]
		if !known {
			return property.Null, syntax.ErrReported // settings are evaluated before packages are loaded
		}
		return invocation{e, x, f}.run()
	}
	panic(fmt.Sprintf("an expression of the type %T", x))
}

// all evaluates all expressions, to report all mistakes, and returns the first error.
func (e *Evaluator) all(xs []ast.Expr) ([]property.Value, error) {
	var first error
	out := make([]property.Value, len(xs))
	for i, x := range xs {
		v, err := e.Eval(x)
		if err != nil && first == nil {
			first = err
		}
		out[i] = v
	}
	return out, first
}

func (e *Evaluator) list(x *ast.List) (property.Value, error) {
	items, err := e.all(x.Items)
	if err != nil {
		return property.Null, err
	}
	if values.IsTooLarge(items...) {
		return property.Null, e.tooLarge(x.Range())
	}
	return property.ArrayOf(items...), nil
}

func (e *Evaluator) object(x *ast.Object) (property.Value, error) {
	m := make(map[string]property.Value, len(x.Entries))
	var whole values.Marks
	var failed error
	for _, entry := range x.Entries {
		k, err := e.Eval(entry.Key)
		if err != nil {
			failed = err
			continue
		}
		v, err := e.Eval(entry.Value)
		if err != nil {
			failed = err
			continue
		}
		key, marks := values.UnmarkDeep(k)
		whole = whole.And(marks)
		if key.IsUnknown() {
			return marks.Mark(property.Computed()), nil
		}
		if !key.IsString() {
			failed = e.report.Fail(entry.Key.Range(), "", "the key of an object must be a string, not %s", values.Describe(key))
			continue
		}
		m[key.AsString()] = v
	}
	if failed != nil {
		return property.Null, failed
	}
	made := property.Of(property.NewMap(m))
	if values.IsTooLarge(made) {
		return property.Null, e.tooLarge(x.Range())
	}
	return whole.Mark(made), nil
}

func (e *Evaluator) interpolate(x *ast.Interpolation) (property.Value, error) {
	var b strings.Builder
	var whole values.Marks
	unknown := false
	for _, part := range x.Parts {
		b.WriteString(part.Text)
		if part.Access == nil {
			continue
		}
		v, err := e.access(part.Access, true)
		if err != nil {
			return property.Null, err
		}
		if err := e.available(v, part.Access.Range); err != nil {
			return property.Null, err
		}
		plain, marks := values.UnmarkDeep(v)
		whole.Secret, whole.Dependencies = whole.Secret || marks.Secret, append(whole.Dependencies, marks.Dependencies...)
		if plain.IsUnknown() {
			unknown = true
			continue
		}
		if values.HasNull(plain) {
			return property.Null, e.nullInText(plain, part.Access)
		}
		text, err := e.text(plain, part.Access)
		if err != nil {
			return property.Null, err
		}
		if b.Len()+len(text) > values.MaxSize {
			return property.Null, e.tooLarge(part.Access.Range)
		}
		b.WriteString(text)
	}
	whole.Dependencies = values.Sorted(whole.Dependencies)
	if unknown {
		return whole.Mark(property.Computed()), nil
	}
	return whole.Mark(property.String(b.String())), nil
}

func (e *Evaluator) tooLarge(at syntax.Range) error {
	return e.report.Fail(at, "keep what is so large in a file, and pass it as an asset", "the value becomes larger than %d MiB here", values.MaxSize>>20)
}

// nullInText reports a value that is null or contains null, and is to become a part of a text: that would have "<nil>" in it.
func (e *Evaluator) nullInText(v property.Value, a *syntax.Access) error {
	if v.IsNull() {
		return e.report.Fail(a.Range, "", "%s is null, which cannot become a part of a text", a)
	}
	return e.report.Fail(a.Range, "", "%s contains null, which cannot become a part of a text", a)
}

// text returns the form of a value in a text.
func (e *Evaluator) text(v property.Value, a *syntax.Access) (string, error) {
	s, ok := values.Text(v)
	switch {
	case !ok && v.IsReference():
		return "", e.report.Fail(a.Range, fmt.Sprintf("name what of it is meant: ${%s.id}", a), "%s cannot be put into a string", values.Describe(v))
	case !ok:
		return "", e.report.Fail(a.Range, "", "%s cannot be put into a string", values.Describe(v))
	case v.IsNumber():
		return e.number(a, v.AsNumber(), s), nil
	}
	return s, nil
}

// number returns the form of a number in a text. Settings that are declared as integers have all their digits. Other numbers have an
// exponent from a million on, which is surprising but must stay, because existing deployments have it (protocol.md 11.6).
func (e *Evaluator) number(a *syntax.Access, v float64, written string) string {
	if n := e.names.scope.Find(a.Root); n != nil && n.Setting != nil && n.Setting.IsInteger {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if v == math.Trunc(v) && strings.Contains(written, "e") { // the warning omits the number, which may be secret
		e.report.Warn(a.Range, "put it in quotes where it comes from, or make it a setting of the type integer",
			"a number of a million or more is written with an exponent in a text, like 1e+06")
	}
	return written
}

// access returns the value of "${...}".
func (e *Evaluator) access(a *syntax.Access, inText bool) (property.Value, error) {
	w := walk{walker: e.walker, access: a, inText: inText}
	if a.Root == bind.Facts {
		return w.value(e.names.facts, a.Steps, required)
	}
	n := e.names.scope.Find(a.Root)
	switch {
	case n == nil:
		return property.Null, syntax.ErrReported
	case n.Resource != nil:
		r, err := e.names.resource(n)
		if err != nil {
			return property.Null, err
		}
		return w.resource(r, a.Steps)
	}
	v, err := e.names.value(n)
	if err != nil {
		return property.Null, err
	}
	return w.value(v, a.Steps, optional)
}

// call calls a function of the language (protocol.md 11.7).
func (e *Evaluator) call(c *ast.Call) (property.Value, error) {
	args, err := e.all(c.Args)
	if err != nil {
		return property.Null, err
	}
	for i, arg := range args {
		if err := e.available(arg, c.Args[i].Range()); err != nil {
			return property.Null, err
		}
	}
	if c.Function == "fn::stackReference" {
		return e.stackReference(c, args[0].AsString(), args[1])
	}
	v, mistake := functions.Call(c.Function, args, e.directory)
	if mistake != nil {
		return property.Null, e.report.Fail(placeOf(c, mistake), "", "%s", mistake.Text)
	}
	return v, nil
}

// available reports a value that is needed as a whole and contains parts that are not available.
func (e *Evaluator) available(v property.Value, at syntax.Range) error {
	why, ok := v.WhyUnavailable()
	if !ok {
		return nil
	}
	return e.report.Fail(at, "", "%s", why)
}

// placeOf returns the place of the wrong argument, or of its wrong element.
func placeOf(c *ast.Call, m *functions.Mistake) syntax.Range {
	argument := c.Args[m.Argument]
	if list, ok := argument.(*ast.List); ok && m.Element >= 0 {
		return list.Items[m.Element].Range()
	}
	return argument.Range()
}

// stackReference returns an output of another stack, which is read once (deprecated, protocol.md 11.7).
func (e *Evaluator) stackReference(c *ast.Call, stack string, of property.Value) (property.Value, error) {
	output, marks := values.UnmarkDeep(of)
	if output.IsUnknown() {
		return marks.Mark(property.Computed()), nil
	}
	if !output.IsString() {
		return property.Null, e.report.Fail(c.Args[1].Range(), "", "%s takes a string here, not %s", c.Function, values.Describe(output))
	}
	read, err := e.stacks.read(stack, e.owner.URN, c.Range())
	if err != nil {
		return property.Null, err
	}
	all, own := values.Unmark(read.At("outputs"))
	if all.IsUnknown() {
		return own.Mark(property.Computed()), nil
	}
	v, has := all.AsMap().Get(output.AsString())
	if !has {
		return property.Null, noOutput(e.report, c.Args[1].Range(), stack, output.AsString(), all.AsMap())
	}
	if why, ok := v.IsUnavailable(); ok {
		return property.Null, e.report.Fail(c.Args[1].Range(), "", "%s", why)
	}
	return marks.And(own).Mark(v), nil
}

// Made returns the resource of a node.
func (e *Evaluator) Made(n *bind.Node) (*Resource, error) { return e.names.resource(n) }

// MissingFor returns the resources that were not made and that a node needs, sorted.
func (e *Evaluator) MissingFor(n *bind.Node) []urn.URN { return e.names.MissingFor(n) }

// Unmade returns the URN of the resource in an option, if that resource was not made.
func (e *Evaluator) Unmade(x ast.Expr) (urn.URN, bool) {
	s, ok := x.(*ast.Symbol)
	if !ok || len(s.Access.Steps) > 0 {
		return "", false
	}
	return e.names.unmade(e.names.scope.Find(s.Access.Root))
}

// Resource evaluates an option whose value is a resource. If x is nil, so is the resource.
func (e *Evaluator) Resource(x ast.Expr, option string) (*Resource, error) {
	if x == nil {
		return nil, nil
	}
	v, err := e.Eval(x)
	if err != nil {
		return nil, err
	}
	return e.ResourceIn(x, v, option)
}

// ResourceIn returns the resource in the value of an option. The value must be the resource itself, and known.
func (e *Evaluator) ResourceIn(x ast.Expr, v property.Value, option string) (*Resource, error) {
	inner, _ := values.Unmark(v)
	if !inner.IsReference() {
		hint := ""
		if inner.IsString() {
			hint = "write ${name} for the resource of that name"
		}
		return nil, e.report.Fail(x.Range(), hint, "`%s` must be a resource, not %s", option, values.Describe(inner))
	}
	return e.walker.resources.find(inner.AsReference().URN, x.Range())
}

// Resources is like Resource, for an option whose value is a list.
func (e *Evaluator) Resources(x ast.Expr, option string) ([]*Resource, error) {
	if x == nil {
		return nil, nil
	}
	v, err := e.Eval(x)
	if err != nil {
		return nil, err
	}
	inner, _ := values.Unmark(v)
	if !inner.IsArray() {
		return nil, e.report.Fail(x.Range(), "put it between [ and ]", "`%s` must be a list of resources, not %s", option, values.Describe(inner))
	}
	var out []*Resource
	for i, item := range inner.AsArray().All() {
		at := x
		if list, ok := x.(*ast.List); ok {
			at = list.Items[i]
		}
		r, err := e.ResourceIn(at, item, fmt.Sprintf("%s[%d]", option, i))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
