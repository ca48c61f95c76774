package codegen

import (
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Program is what is to be declared.
type Program struct {
	// Resources are recorded states, in the order in which people named them.
	Resources []*state.Resource
	// Names are the variables of resources, also of those that the program declares already. A name that the language
	// does not allow is changed.
	Names map[urn.URN]string
	// Schemas are those of the packages, by the reference of the provider that was asked; one may be nil.
	Schemas map[string]*Schema
	// ShowSecrets writes secret values out. Otherwise the program reads them from its configuration.
	ShowSecrets bool
}
