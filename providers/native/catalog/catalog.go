// Package catalog lists the providers that come with the engine. Each is in a folder beside this one.
package catalog

import (
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/archive"
	"github.com/sluice-iac/sluice/providers/native/clock"
	"github.com/sluice-iac/sluice/providers/native/command"
	"github.com/sluice-iac/sluice/providers/native/local"
	"github.com/sluice-iac/sluice/providers/native/null"
	"github.com/sluice-iac/sluice/providers/native/random"
	"github.com/sluice-iac/sluice/providers/native/sim"
	"github.com/sluice-iac/sluice/providers/native/std"
	"github.com/sluice-iac/sluice/providers/native/tls"
	"github.com/sluice-iac/sluice/providers/native/web"
)

// All returns the built-in packages.
func All() native.Catalog {
	return native.Catalog{
		archive.Name: archive.Package,
		clock.Name:   clock.Package,
		command.Name: command.Package,
		local.Name:   local.Package,
		null.Name:    null.Package,
		random.Name:  random.Package,
		sim.Name:     sim.Package,
		std.Name:     std.Package,
		tls.Name:     tls.Package,
		web.Name:     web.Package,
	}
}
