package check

import (
	"fmt"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/values"
)

// options checks the options of resources whose values the program writes out. The evaluation checks the others.
type options struct {
	kinds  *kinds
	report *syntax.Report
}

func (o *options) check(given *ast.Options) {
	o.plain(given.Protect, "protect", "true or false", "a boolean")
	for name, x := range map[string]ast.Expr{"create": given.Create, "update": given.Update, "delete": given.Delete, "read": given.Read} {
		o.plain(x, "customTimeouts."+name, `a string such as "5m"`, "a string")
	}
	for name, x := range map[string]ast.Expr{"parent": given.Parent, "deletedWith": given.DeletedWith, "provider": given.Provider} {
		o.resource(x, name)
	}
	for name, x := range map[string]ast.Expr{"dependsOn": given.DependsOn, "replaceWith": given.ReplaceWith, "providers": given.Providers} {
		o.resources(x, name)
	}
}

// written returns what a value is that the program writes out, in the words of [values.Describe], and "" for what only the evaluation knows.
func (o *options) written(x ast.Expr) string {
	if s, ok := x.(*ast.Symbol); ok && len(s.Access.Steps) == 0 {
		if n := o.kinds.scope.Find(s.Access.Root); n != nil && n.Resource != nil {
			return "a resource"
		}
	}
	if x == nil {
		return ""
	}
	switch x := o.kinds.value(x, 0).(type) {
	case *ast.Literal:
		return values.Describe(x.Value)
	case *ast.Interpolation:
		return "a string"
	case *ast.List:
		return "a list"
	case *ast.Object:
		return "an object"
	}
	return ""
}

// plain checks an option that is no resource. The words for its value are those of [values.Describe].
func (o *options) plain(x ast.Expr, name, wanted, words string) {
	if is := o.written(x); is != "" && is != words {
		_ = o.report.Fail(x.Range(), "", "`%s` must be %s, not %s", name, wanted, is)
	}
}

func (o *options) resource(x ast.Expr, name string) {
	switch is := o.written(x); is {
	case "", "a resource":
	case "a string":
		_ = o.report.Fail(x.Range(), "write ${name} for the resource of that name", "`%s` must be a resource, not %s", name, is)
	default:
		_ = o.report.Fail(x.Range(), "", "`%s` must be a resource, not %s", name, is)
	}
}

func (o *options) resources(x ast.Expr, name string) {
	switch is := o.written(x); is {
	case "":
	case "a list":
		if list, ok := x.(*ast.List); ok {
			for i, item := range list.Items {
				o.resource(item, fmt.Sprintf("%s[%d]", name, i))
			}
		}
	default:
		_ = o.report.Fail(x.Range(), "put it between [ and ]", "`%s` must be a list of resources, not %s", name, is)
	}
}
