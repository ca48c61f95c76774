package places

import (
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// File is a file of a program, with the names that expressions in it may use.
type File struct {
	Name  string // for messages
	Scope *bind.Scope
}

// Places are the places of registered resources. The zero value has none. It is safe for concurrent use.
type Places struct {
	mu       sync.RWMutex // guards declared
	declared map[urn.URN]declared
}

type declared struct {
	resource *ast.Resource
	file     *File
}

// Add adds a resource. It replaces an earlier one of the same name.
func (p *Places) Add(u urn.URN, r *ast.Resource, f *File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.declared == nil {
		p.declared = map[urn.URN]declared{}
	}
	p.declared[u] = declared{r, f}
}

// Clear removes all resources.
func (p *Places) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.declared = nil
}

// Locate is a [stages.Locate].
func (p *Places) Locate(u urn.URN, path property.Path) (stages.Place, bool) {
	p.mu.RLock()
	d, known := p.declared[u]
	p.mu.RUnlock()
	if !known {
		return stages.Place{}, false
	}
	at, value := d.find(path)
	place := stages.Place{Position: fmt.Sprintf("%s:%d", d.file.Name, at.Line)}
	s := settings{scope: d.file.Scope, seen: map[ast.Expr]bool{}}
	s.collect(value)
	slices.Sort(s.keys)
	place.Settings = slices.Compact(s.keys)
	return place, true
}

// find returns the place of a property in the program, and its expression, nil if the place is the whole resource.
func (d declared) find(path property.Path) (syntax.Range, ast.Expr) {
	r := d.resource
	if len(path) == 0 || path[0].IsIndex {
		return r.Key.At, nil
	}
	if r.PropertiesExpr != nil {
		return r.PropertiesExpr.Range(), r.PropertiesExpr
	}
	for _, given := range r.Properties {
		if given.Name.Value == path[0].Key {
			return within(given.Name.At, given.Value, path[1:])
		}
	}
	return r.Key.At, nil // it is no longer in the program
}

// within follows a path into a value, as far as the program writes the value out.
func within(at syntax.Range, value ast.Expr, path property.Path) (syntax.Range, ast.Expr) {
	for _, e := range path {
		inner, next := step(value, e)
		if next == nil {
			break
		}
		at, value = inner, next
	}
	return at, value
}

func step(value ast.Expr, e property.Element) (syntax.Range, ast.Expr) {
	switch v := value.(type) {
	case *ast.Object:
		for _, entry := range v.Entries {
			if key, ok := entry.Key.(*ast.Literal); ok && !e.IsIndex && key.Value.IsString() && key.Value.AsString() == e.Key {
				return key.Range(), entry.Value
			}
		}
	case *ast.List:
		if e.IsIndex && e.Index < len(v.Items) {
			return v.Items[e.Index].Range(), v.Items[e.Index]
		}
	}
	return syntax.Range{}, nil
}

// settings collects the settings in expressions, also through variables.
type settings struct {
	scope *bind.Scope
	seen  map[ast.Expr]bool // values of variables
	keys  []string
}

func (s *settings) collect(e ast.Expr) {
	if s.scope.Kind != bind.ConfigurationValue { // the inputs of a component
		return
	}
	ast.Accesses(e, func(a *syntax.Access) {
		n := s.scope.Find(a.Root)
		switch {
		case n == nil:
		case n.Setting != nil && n.Setting.Declared != nil:
			s.keys = append(s.keys, s.scope.Key(n.Setting.Declared.Lookup()))
		case n.Setting != nil:
			s.keys = append(s.keys, s.scope.Key(n.Name))
		case n.Variable != nil && !s.seen[n.Variable.Value]:
			s.seen[n.Variable.Value] = true
			s.collect(n.Variable.Value)
		}
	})
}
