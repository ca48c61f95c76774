package stages

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Place is the place in a program that gives a resource or a property. Most languages report only the place in which a resource is
// declared, with its registration.
type Place struct {
	Position string // "Pulumi.yaml:12", relative to the project
	// Settings are the full keys of the settings that are part of the value, in ascending order.
	Settings []string
}

// Locate returns the place in the program that gives a property of a resource; the empty path is the resource itself. It reports
// false if the place is not known.
type Locate func(u urn.URN, path property.Path) (Place, bool)
