package bind

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
)

// Program is a program whose names are bound.
type Program struct {
	Template *ast.Template
	Scope    *Scope
	// Nodes are the resources and variables, each after its needs, otherwise in the order of the file.
	Nodes []*Node
	// Outputs are the outputs, each as a variable that no expression can name, in the order of the file.
	Outputs []*Node
}

// Bind binds every name, and orders the nodes. The scope must have the settings. If Bind finds errors, it adds them to the report and
// leaves the nodes in the order of the file.
func Bind(t *ast.Template, s *Scope, r *syntax.Report) *Program {
	b := &binder{scope: s, report: r, hints: map[string]string{}}
	before := r.Errors()
	nodes := b.declare(t)
	for _, n := range nodes {
		b.useDefault(n)
		for _, e := range n.Exprs() {
			b.expr(n, e)
		}
	}
	outputs := make([]*Node, len(t.Outputs))
	for i, o := range t.Outputs {
		outputs[i] = &Node{kind: "output", Name: o.Name.Value, At: o.Name.At, Variable: o}
		b.expr(outputs[i], o.Value)
	}
	sorted := b.sorted(nodes) // a cycle is reported beside other errors
	if r.Errors() == before {
		nodes = sorted
	}
	return &Program{Template: t, Scope: s, Nodes: nodes, Outputs: outputs}
}

type binder struct {
	scope  *Scope
	report *syntax.Report
	hints  map[string]string // suggestions for unknown names
}

// declare adds the resources and variables to the scope, and returns them.
func (b *binder) declare(t *ast.Template) []*Node {
	var nodes []*Node
	enter := func(names map[string]*Node, n *Node) bool {
		ok := b.scope.declare(names, n, b.report)
		if ok {
			nodes = append(nodes, n)
		}
		return ok
	}
	for _, r := range t.Resources {
		n := &Node{kind: "resource", Name: r.Key.Value, At: r.Key.At, Resource: r}
		if enter(b.scope.resources, n) && r.DefaultProvider.Value {
			b.declareDefault(n)
		}
	}
	for _, v := range t.Variables {
		enter(b.scope.variables, &Node{kind: "variable", Name: v.Name.Value, At: v.Name.At, Variable: v})
	}
	return nodes
}

func (b *binder) declareDefault(n *Node) {
	pkg := ast.PackageOf(n.Resource.Type.Value)
	if other := b.scope.defaults[pkg]; other != nil {
		_ = b.report.Fail(n.Resource.DefaultProvider.At, "", "the package %s has a default provider already, %q in line %d",
			pkg, other.Name, other.At.Line)
		return
	}
	b.scope.defaults[pkg] = n
}

// useDefault gives a resource without a provider the default provider of its package. Both must name the same plugin.
func (b *binder) useDefault(n *Node) {
	r := n.Resource
	if r == nil || r.Options.Provider != nil || strings.HasPrefix(r.Type.Value, "pulumi:providers:") {
		return
	}
	provider := b.scope.Default(ast.PackageOf(r.Type.Value))
	if provider == nil {
		return
	}
	b.agree(provider, fmt.Sprintf("the resource %q", n.Name), r.Mention())
	n.DefaultProvider = provider
	n.need(provider)
}

// agree checks that the plugin options of a node are the same as those of its default provider.
func (b *binder) agree(provider *Node, what string, m ast.Mention) {
	theirs := provider.Resource.Options
	for _, o := range []struct {
		name       string
		mine, that ast.Text
	}{{"version", m.Version, theirs.Version}, {"pluginDownloadURL", m.URL, theirs.PluginDownloadURL}} {
		if o.mine.IsGiven() && o.mine.Value != o.that.Value {
			_ = b.report.Fail(o.mine.At, "remove the option", "the %s of %s differs from that of its default provider %q",
				o.name, what, provider.Name)
		}
	}
}

// expr binds the names in an expression of a node.
func (b *binder) expr(n *Node, e ast.Expr) {
	ast.Accesses(e, func(a *syntax.Access) {
		if a.Root == Facts {
			bindFact(a, b.report)
			return
		}
		found := b.scope.Find(a.Root)
		if found == nil {
			_ = b.report.Fail(a.RootRange(), b.hint(a.Root), "there is no resource, variable or %s %q", b.scope.Kind, a.Root)
			return
		}
		if found.Setting == nil {
			n.need(found)
		}
	})
	ast.Walk(e, func(e ast.Expr) {
		if i, ok := e.(*ast.Invoke); ok && i.Options.Provider == nil {
			if provider := b.scope.Default(ast.PackageOf(i.Token.Value)); provider != nil {
				b.agree(provider, "the function "+i.Token.Value, i.Mention())
				n.need(provider)
			}
		}
	})
}

// maxHints limits the number of suggestions. A larger number of wrong names is likely one mistake.
const maxHints = 20

// hint suggests another name for an unknown one.
func (b *binder) hint(name string) string {
	known, ok := b.hints[name]
	if !ok && len(b.hints) < maxHints {
		known = syntax.Nearest(name, b.scope.names())
		b.hints[name] = known
	}
	return known
}

// sorted returns the nodes, each after its needs, otherwise in the order of the file. It reports a cycle.
func (b *binder) sorted(nodes []*Node) []*Node {
	number := make(map[*Node]graph.ID, len(nodes))
	for i, n := range nodes {
		number[n] = graph.ID(i)
	}
	order, cycle := graph.PostOrder(len(nodes), func(id graph.ID, visit func(graph.ID)) {
		for _, need := range nodes[id].Needs {
			visit(number[need])
		}
	})
	if cycle != nil {
		n := nodes[cycle[0]]
		_ = b.report.Fail(n.At, "", "the %s %q depends on itself: %s", n.kind, n.Name,
			CycleText(cycle, func(id graph.ID) string { return nodes[id].Name }))
		return nodes
	}
	sorted := make([]*Node, len(order))
	for i, id := range order {
		sorted[i] = nodes[id]
	}
	return sorted
}

// CycleText shows a cycle as the path from its first member back to it.
func CycleText(cycle []graph.ID, name func(graph.ID) string) string {
	var names []string
	for _, id := range append(cycle, cycle[0]) {
		names = append(names, name(id))
	}
	return strings.Join(names, " -> ")
}
