package codegen

import (
	"github.com/sluice-iac/sluice/property"
)

// field is a property of a declaration or of an object in it.
type field struct {
	name  string
	spec  propertySpec // the zero value without a schema
	value expression
}

// expression is a value, independent of the language: one of the types below.
type expression interface{ isExpression() }

type (
	// literal is a string, a bool or a number; null where a value is required.
	literal struct {
		value property.Value
		typ   *typeSpec
	}
	// list is an array.
	list struct {
		items []expression
		typ   *typeSpec
	}
	// object is an object of a named type if typ is an object type, else a map.
	object struct {
		fields []field
		typ    *typeSpec
	}
	// asset is an asset or an archive made from a text.
	asset struct{ constructor, text string }
	// members is an archive of assets.
	members struct{ fields []field }
	// idOf is the ID of another resource.
	idOf struct {
		variable string
		typ      *typeSpec
	}
	// setting is a secret that is read from the configuration.
	setting struct {
		key     string
		typ     *typeSpec // string, bool, integer or number
		enum    *typeSpec // the enum that the value is a member of, or nil
		isPlain bool      // an output is not accepted
	}
	// secretly is a value that is marked as secret.
	secretly struct{ value expression }
	// mismatched is a value that does not have the type in the schema.
	mismatched struct{ value expression }
)

func (literal) isExpression()    {}
func (list) isExpression()       {}
func (object) isExpression()     {}
func (asset) isExpression()      {}
func (members) isExpression()    {}
func (idOf) isExpression()       {}
func (setting) isExpression()    {}
func (secretly) isExpression()   {}
func (mismatched) isExpression() {}
