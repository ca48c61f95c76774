package rooms

import (
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// IsObjectOf reports whether a state is about the object of another one, of which one was or is imported. An ID identifies an object only for
// one type and one provider; all default providers of a package count as one. States of one URN are about one object if they
// have its ID, whatever their providers. If nothing was imported, equal IDs mean nothing: some providers give objects of
// equal content equal IDs.
func IsObjectOf(res, imported *state.Resource) bool {
	if res == imported || !res.Custom || res.External || res.Type != imported.Type || res.ID == "" || res.ID != imported.ID && res.ID != imported.ImportID {
		return false
	}
	return res.URN == imported.URN || providerName(res.Provider) == providerName(imported.Provider)
}

// providerName returns what identifies a provider, whatever its version: its URN, "" for a default provider.
func providerName(reference string) urn.URN {
	ref, err := urn.ParseProviderRef(reference)
	if err != nil || ref.URN.IsDefaultProvider() {
		return ""
	}
	return ref.URN
}
