package plan

import (
	"github.com/sluice-iac/sluice/urn"
)

// isProviderPlanned compares provider references. The ID of a provider that was to be created was not known.
func isProviderPlanned(planned, actual string) bool {
	if planned == actual {
		return true
	}
	was, err := urn.ParseProviderRef(planned)
	if err != nil {
		return false
	}
	is, err := urn.ParseProviderRef(actual)
	return err == nil && was.URN == is.URN && was.ID == urn.UnknownID
}
