package bind

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
)

// Facts is the name of the variable with the facts about the run.
const Facts = "pulumi"

// SettingKind is the name of a setting in messages.
type SettingKind string

// The kinds of settings: those of programs, and those of components.
const (
	ConfigurationValue SettingKind = "configuration value"
	Input              SettingKind = "input"
)

// Scope holds the names of a program. Settings have a table of their own: a value of the stack may have the same name as a resource, which
// takes precedence.
type Scope struct {
	Kind SettingKind // of its settings

	project   string
	resources map[string]*Node
	settings  map[string]*Node
	variables map[string]*Node
	defaults  map[string]*Node // default providers by package
}

// NewScope returns an empty scope. Settings of the project may be written without its name.
func NewScope(project string, kind SettingKind) *Scope {
	return &Scope{
		Kind: kind, project: project, resources: map[string]*Node{}, settings: map[string]*Node{},
		variables: map[string]*Node{}, defaults: map[string]*Node{},
	}
}

// Find returns the node of a name, nil if there is none.
func (s *Scope) Find(name string) *Node {
	for _, names := range s.all() {
		if n := names[name]; n != nil {
			return n
		}
	}
	return s.settings[s.short(name)]
}

// Default returns the default provider of a package, nil if it has none.
func (s *Scope) Default(pkg string) *Node { return s.defaults[pkg] }

// all returns the tables of names, in order of precedence.
func (s *Scope) all() []map[string]*Node {
	return []map[string]*Node{s.resources, s.settings, s.variables}
}

// short returns the name of a setting without the prefix of the project.
func (s *Scope) short(name string) string { return strings.TrimPrefix(name, s.project+":") }

// Key returns the full key of a setting.
func (s *Scope) Key(name string) string {
	if strings.Contains(name, ":") {
		return name
	}
	return s.project + ":" + name
}

// AddStackValue adds a value of the stack under its full key.
func (s *Scope) AddStackValue(key string, v property.Value) {
	name := s.short(key)
	s.settings[name] = &Node{kind: string(s.Kind), Name: name, Setting: &Setting{Value: v}}
}

// Declare adds a setting that the program declares, without a value. given is the stack's value for it, nil if it has none. If the name is
// taken, Declare reports that and returns nil.
func (s *Scope) Declare(c *ast.Config, r *syntax.Report) (declared, given *Setting) {
	n := &Node{kind: string(s.Kind), Name: c.Key.Value, At: c.Key.At, Setting: &Setting{Declared: c}}
	given = s.stackValue(s.short(c.Lookup()))
	if own := s.stackValue(n.Name); own != nil {
		delete(s.settings, n.Name)
		if c.Lookup() == n.Name {
			given = own
		}
	}
	if !s.declare(s.settings, n, r) {
		return nil, nil
	}
	return n.Setting, given
}

// stackValue returns a value of the stack whose name the program has not declared, nil if there is none.
func (s *Scope) stackValue(name string) *Setting {
	if n := s.settings[name]; n != nil && n.Setting.Declared == nil {
		return n.Setting
	}
	return nil
}

// declare adds a node, unless its name is taken.
func (s *Scope) declare(names map[string]*Node, n *Node, r *syntax.Report) bool {
	if n.Name == Facts {
		_ = r.Fail(n.At, "", "the %s cannot have the name %q, which is reserved for the facts about the run", n.kind, n.Name)
		return false
	}
	for _, names := range s.all() {
		other := names[n.Name]
		if other == nil || other.Setting != nil && other.Setting.Declared == nil {
			continue
		}
		if other.kind == n.kind {
			_ = r.Fail(n.At, "", "there are two of the %s %q; the other one is in line %d", n.kind, n.Name, other.At.Line)
		} else {
			_ = r.Fail(n.At, "", "the %s %q has the name of a %s in line %d", n.kind, n.Name, other.kind, other.At.Line)
		}
		return false
	}
	names[n.Name] = n
	return true
}

// NeedsOnlySettings reports whether an expression can be evaluated before everything else. If not, it adds the reason to
// the report. what is the expression's name in messages.
func (s *Scope) NeedsOnlySettings(x ast.Expr, what string, r *syntax.Report) bool {
	before := r.Errors()
	ast.Walk(x, func(x ast.Expr) {
		if i, ok := x.(*ast.Invoke); ok {
			_ = r.Fail(i.Token.At, "", "%s cannot call a package's function", what)
		}
	})
	ast.Accesses(x, func(a *syntax.Access) {
		if a.Root == Facts {
			bindFact(a, r)
		} else if n := s.Find(a.Root); n == nil || n.Setting == nil {
			_ = r.Fail(a.Range, "", "%s can only refer to %ss declared before it, and %q is none", what, s.Kind, a.Root)
		}
	})
	return r.Errors() == before
}

// bindFact checks that an access refers to an existing fact.
func bindFact(a *syntax.Access, r *syntax.Report) {
	if len(a.Steps) == 0 {
		return
	}
	names := factNames()
	if step := a.Steps[0]; step.IsIndex || !slices.Contains(names, step.Name) {
		_ = r.Fail(a.Range, "there are: "+syntax.Some(names, len(names)), "the variable pulumi has no %s",
			strings.TrimPrefix(a.String(), "pulumi."))
	}
}

func factNames() []string {
	return []string{"cwd", "organization", "project", "rootDirectory", "stack"}
}

// names returns all names that a program may refer to.
func (s *Scope) names() []string {
	names := []string{Facts}
	for _, m := range s.all() {
		for name := range m {
			names = append(names, name)
		}
	}
	return names
}
