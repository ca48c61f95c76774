// Package catalog lists the providers that come with the engine. Each is in a folder beside this one.
package catalog

import (
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/command"
	"github.com/sluice-iac/sluice/providers/native/random"
	"github.com/sluice-iac/sluice/providers/native/sim"
	"github.com/sluice-iac/sluice/providers/native/tls"
)

// All returns the packages that are built in.
func All() native.Catalog {
	return native.Catalog{
		command.Name: command.Package,
		random.Name:  random.Package,
		sim.Name:     sim.Package,
		tls.Name:     tls.Package,
	}
}
