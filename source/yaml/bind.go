package yaml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/source/yaml/internal/syntax"
)

// reserved is the name of the variable with the facts about the run.
const reserved = "pulumi"

// node is something with a name that has a value: a value of the configuration, a variable or a resource.
type node struct {
	kind string
	name string
	at   syntax.Range

	config   *ast.Config
	variable *ast.Named
	resource *ast.Resource

	// For resources: what its type means, and the default provider that it uses.
	token           string
	packageRef      string
	schema          *schema.Resource
	defaultProvider *node

	needs    []*node  // each once
	neededBy *node    // the last one that turned out to need this
	number   graph.ID // the place in the file, and once the nodes are sorted that in the order of evaluation

	// What follows is written once, before the dependents run.
	value     property.Value
	made      *resource // for resources
	poisoned  bool      // it has no value, and why has been said
	isInteger bool      // configuration that is declared a whole number
}

// isConfig reports whether the node is configuration, or an input of a component, which takes its place.
func (n *node) isConfig() bool { return n.resource == nil && n.variable == nil }

// exprs are the expressions of the node. Some may be nil.
func (n *node) exprs() []ast.Expr {
	switch {
	case n.resource != nil:
		return n.resource.Exprs()
	case n.variable != nil:
		return []ast.Expr{n.variable.Value}
	}
	return nil
}

// scope is the names of a program (protocol.md 11.4, 11.6). Configuration has names of its own: a value of the stack may
// have the name of a resource, which wins.
type scope struct {
	project   string
	configs   string // what configuration is called here
	resources map[string]*node
	config    map[string]*node
	variables map[string]*node
	order     []*node // resources and variables, in the order of the file
	defaults  map[string]*node
	hints     map[string]string // what was suggested for names that mean nothing
}

func newScope(project, configs string) *scope {
	return &scope{
		project: project, configs: configs, resources: map[string]*node{}, config: map[string]*node{}, variables: map[string]*node{},
		defaults: map[string]*node{}, hints: map[string]string{},
	}
}

// find returns what a name means, nil when it means nothing.
func (s *scope) find(name string) *node {
	for _, names := range []map[string]*node{s.resources, s.config, s.variables} {
		if n := names[name]; n != nil {
			return n
		}
	}
	return s.config[strings.TrimPrefix(name, s.project+":")]
}

// names are all that may be referred to.
func (s *scope) names() []string {
	names := []string{reserved}
	for _, m := range []map[string]*node{s.resources, s.config, s.variables} {
		for name := range m {
			names = append(names, name)
		}
	}
	return names
}

// maxHints is for how many names another one is suggested. Whoever has more of them wrong has made one mistake.
const maxHints = 20

// hint suggests what a name may have been meant to be.
func (s *scope) hint(name string) string {
	known, ok := s.hints[name]
	if !ok && len(s.hints) < maxHints {
		known = syntax.Nearest(name, s.names())
		s.hints[name] = known
	}
	return known
}

// bind gives every name its meaning, and orders the nodes. It adds what is wrong to d.
func bind(t *ast.Template, s *scope, d *syntax.Diagnostics) {
	before := d.Errors() // mistakes in the configuration are no reason not to go on
	for _, r := range t.Resources {
		n := &node{kind: "resource", name: r.Key.Value, at: r.Key.At, resource: r}
		if s.declare(s.resources, n, d) && r.DefaultProvider.Value {
			s.declareDefault(n, d)
		}
	}
	for _, v := range t.Variables {
		s.declare(s.variables, &node{kind: "variable", name: v.Name.Value, at: v.Name.At, variable: v}, d)
	}
	for _, n := range s.order {
		s.bindDefault(n, d)
		for _, e := range n.exprs() {
			s.bindExpr(n, e, d)
		}
	}
	outputs := &node{}
	for _, o := range t.Outputs {
		s.bindExpr(outputs, o.Value, d)
	}
	if d.Errors() == before {
		s.sort(d)
	}
}

// declare enters a node, unless its name is taken.
func (s *scope) declare(names map[string]*node, n *node, d *syntax.Diagnostics) bool {
	if n.name == reserved {
		d.Errorf(n.at, "the %s cannot have the name %q, which is reserved for the facts about the run", n.kind, n.name)
		return false
	}
	for _, other := range []*node{s.resources[n.name], s.config[n.name], s.variables[n.name]} {
		if other == nil || other.config == nil && other.isConfig() {
			continue
		}
		if other.kind == n.kind {
			d.Errorf(n.at, "there are two of the %s %q; the other one is in line %d", n.kind, n.name, other.at.Line)
		} else {
			d.Errorf(n.at, "the %s %q has the name of a %s in line %d", n.kind, n.name, other.kind, other.at.Line)
		}
		return false
	}
	names[n.name] = n
	if !n.isConfig() {
		n.number = graph.ID(len(s.order))
		s.order = append(s.order, n)
	}
	return true
}

func (s *scope) declareDefault(n *node, d *syntax.Diagnostics) {
	pkg := packageOfToken(n.resource.Type.Value)
	if other := s.defaults[pkg]; other != nil {
		d.Errorf(n.resource.DefaultProvider.At, "the package %s has a default provider already, %q in line %d", pkg, other.name, other.at.Line)
		return
	}
	s.defaults[pkg] = n
}

// bindDefault gives a resource without a provider the default provider of its package. What the resource says about the
// plugin must agree with it.
func (s *scope) bindDefault(n *node, d *syntax.Diagnostics) {
	r := n.resource
	if r == nil || r.Options.Provider != nil || strings.HasPrefix(r.Type.Value, "pulumi:providers:") {
		return
	}
	provider := s.defaults[packageOfToken(r.Type.Value)]
	if provider == nil {
		return
	}
	provider.agrees(fmt.Sprintf("the resource %q", n.name), mentionOf(r), d)
	n.defaultProvider = provider
	n.need(provider)
}

// agrees makes sure that what is said about the plugin of something is what its default provider says.
func (n *node) agrees(what string, m mention, d *syntax.Diagnostics) {
	theirs := n.resource.Options
	for _, o := range []struct {
		name       string
		mine, that ast.Text
	}{{"version", m.version, theirs.Version}, {"pluginDownloadURL", m.url, theirs.PluginDownloadURL}} {
		if o.mine.IsGiven() && o.mine.Value != o.that.Value {
			d.Add(syntax.Diagnostic{Severity: syntax.Error, Range: o.mine.At, Hint: "remove the option",
				Summary: fmt.Sprintf("the %s of %s differs from that of its default provider %q", o.name, what, n.name)})
		}
	}
}

// need adds what n needs. All needs of one node are added before those of the next.
func (n *node) need(other *node) {
	if other.neededBy != n {
		other.neededBy = n
		n.needs = append(n.needs, other)
	}
}

// bindExpr finds what an expression refers to.
func (s *scope) bindExpr(n *node, e ast.Expr, d *syntax.Diagnostics) {
	ast.Accesses(e, func(a *syntax.Access) {
		if a.Root == reserved {
			s.bindFact(a, d)
			return
		}
		found := s.find(a.Root)
		if found == nil {
			d.Add(syntax.Diagnostic{Severity: syntax.Error, Range: a.RootRange(), Hint: s.hint(a.Root),
				Summary: fmt.Sprintf("there is no resource, variable or %s %q", s.configs, a.Root)})
			return
		}
		if !found.isConfig() {
			n.need(found)
		}
	})
	ast.Walk(e, func(e ast.Expr) {
		if i, ok := e.(*ast.Invoke); ok && i.Options.Provider == nil {
			if provider := s.defaults[packageOfToken(i.Token.Value)]; provider != nil {
				provider.agrees("the function "+i.Token.Value, mentionIn(i), d)
				n.need(provider)
			}
		}
	})
}

func (s *scope) bindFact(a *syntax.Access, d *syntax.Diagnostics) {
	if len(a.Steps) == 0 {
		return
	}
	names := factNames()
	if step := a.Steps[0]; step.IsIndex || !slices.Contains(names, step.Name) {
		d.Add(syntax.Diagnostic{Severity: syntax.Error, Range: a.Range, Hint: "there are: " + syntax.Some(names, len(names)),
			Summary: fmt.Sprintf("the variable pulumi has no %s", strings.TrimPrefix(a.String(), "pulumi."))})
	}
}

func factNames() []string {
	return []string{"cwd", "organization", "project", "rootDirectory", "stack"}
}

// sort brings the nodes into an order in which each comes after what it needs, else in that of the file.
func (s *scope) sort(d *syntax.Diagnostics) {
	order, circle := graph.PostOrder(len(s.order), func(id graph.ID, visit func(graph.ID)) {
		for _, need := range s.order[id].needs {
			visit(need.number)
		}
	})
	if circle != nil {
		n := s.order[circle[0]]
		d.Errorf(n.at, "the %s %q depends on itself: %s", n.kind, n.name, circleText(circle, func(id graph.ID) string { return s.order[id].name }))
		return
	}
	sorted := make([]*node, len(order))
	for i, id := range order {
		sorted[i] = s.order[id]
	}
	s.order = sorted
	for i, n := range s.order {
		n.number = graph.ID(i)
	}
}

// circleText shows a cycle as the way from its first member back to that.
func circleText(circle []graph.ID, name func(graph.ID) string) string {
	var names []string
	for _, id := range append(circle, circle[0]) {
		names = append(names, name(id))
	}
	return strings.Join(names, " -> ")
}

// dependencies are the needs of the nodes; the nodes must be sorted.
func (s *scope) dependencies() *graph.Graph {
	var g graph.Graph
	for _, n := range s.order {
		edges := make([]graph.Edge, len(n.needs))
		for i, need := range n.needs {
			edges[i] = graph.Edge{ID: need.number, Kind: graph.Dependency}
		}
		g.AddNode(edges...)
	}
	return &g
}
