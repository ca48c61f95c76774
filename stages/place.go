package stages

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Place is where a program gives a resource or a property, as far as the program itself knows: most languages say only where a resource
// is declared, with its registration.
type Place struct {
	Position string // "Pulumi.yaml:12", relative to the project
	// Settings are the full keys of the settings that the value is made of, in ascending order.
	Settings []string
}

// Locate returns where a program gives a property of a resource; the empty path is the resource itself. It reports false if that is
// not known.
type Locate func(u urn.URN, path property.Path) (Place, bool)
