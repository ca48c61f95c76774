package bind

import (
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
)

// Node is a name with a value. Exactly one of Setting, Variable and Resource is not nil.
type Node struct {
	Name string
	At   syntax.Range

	Setting  *Setting
	Variable *ast.Named
	Resource *ast.Resource

	DefaultProvider *Node   // of the resource; nil if it has none
	Needs           []*Node // resources and variables, each once

	kind     string // for messages
	neededBy *Node  // the last node found to need this one
}

// Setting is a value that exists before names are bound: one of the configuration, or an input of a component.
type Setting struct {
	Declared  *ast.Config // nil for a value of the stack that the program does not declare
	Value     property.Value
	Missing   bool // there is no value, and the reason has been reported
	IsInteger bool // the program declares it as an integer
}

// Exprs returns the expressions of a resource or a variable. Some may be nil.
func (n *Node) Exprs() []ast.Expr {
	switch {
	case n.Resource != nil:
		return n.Resource.Exprs()
	case n.Variable != nil:
		return []ast.Expr{n.Variable.Value}
	}
	return nil
}

// need adds a need of n. All needs of one node are added before those of the next.
func (n *Node) need(other *Node) {
	if other.neededBy != n {
		other.neededBy = n
		n.Needs = append(n.Needs, other)
	}
}
