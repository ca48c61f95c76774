package serve

import (
	"github.com/sluice-iac/sluice/property"
)

// Wire returns the options that the server encodes and decodes with.
func Wire() property.WireOptions { return wire }
