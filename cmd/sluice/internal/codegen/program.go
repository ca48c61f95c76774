package codegen

import (
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Program describes what to declare.
type Program struct {
	// Resources are recorded states, in the order in which the user named them.
	Resources []*state.Resource
	// Names are the variables of resources, including those that the program declares already. A name that the
	// language does not allow is changed.
	Names map[urn.URN]string
	// Schemas are the schemas of the packages, by the reference of the provider that returned them; one may be nil.
	Schemas map[string]*Schema
	// ShowSecrets writes secret values in plain text. Otherwise the program reads them from its configuration.
	ShowSecrets bool
}
