// Package catalog lists the providers that come with the engine. Each is in a folder beside this one.
package catalog

import (
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/random"
)

// All returns the packages that are built in.
func All() native.Catalog {
	return native.Catalog{
		random.Name: random.Package,
	}
}
