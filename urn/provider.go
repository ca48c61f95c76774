package urn

import (
	"fmt"
	"strings"
)

// UnknownID is the ID of a resource that has not been created yet, as it occurs in provider references and on the wire
// ([protocol.md 2.2]).
//
// [protocol.md 2.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#22-unknowns
const UnknownID = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

const (
	deniedStem = URN("urn:pulumi:denied::denied::pulumi:providers:denied::")
	deniedID   = "denydefaultprovider"
)

// ProviderRef names one provider resource together with its ID: "<URN>::<ID>" ([protocol.md 0.3], [state.md 1.13]). The
// zero value means "no provider".
//
// [protocol.md 0.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#03-names
// [state.md 1.13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#113-provider-references
type ProviderRef struct {
	URN URN
	ID  string
}

// ParseProviderRef splits s at its last "::". An empty ID becomes [UnknownID]. The URN must be that of a provider
// resource; errors wrap [ErrInvalid].
func ParseProviderRef(s string) (ProviderRef, error) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return ProviderRef{}, fmt.Errorf("%w: provider reference %q must have the form <URN>::<ID>", ErrInvalid, s)
	}
	u, err := Parse(s[:i])
	if err != nil {
		return ProviderRef{}, fmt.Errorf("provider reference %q: %w", s, err)
	}
	if !u.Type().IsProvider() {
		return ProviderRef{}, fmt.Errorf("%w: provider reference %q has type %q instead of %s<package>",
			ErrInvalid, s, u.Type(), providerStem)
	}
	return ProviderRef{URN: u, ID: or(s[i+len(separator):], UnknownID)}, nil
}

// String returns the text form; "" for the zero reference.
func (p ProviderRef) String() string {
	if p.URN == "" {
		return ""
	}
	return string(p.URN) + separator + or(p.ID, UnknownID)
}

// IsKnown reports whether the provider resource has been created.
func (p ProviderRef) IsKnown() bool { return p.ID != "" && p.ID != UnknownID }

// Package returns the package that the provider serves.
func (p ProviderRef) Package() string { return p.URN.Type().ProviderPackage() }

// DeniedRef is the reference that resources get when the default provider of their package is switched off
// ([protocol.md 4.5]).
//
// [protocol.md 4.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#45-providers
func DeniedRef(pkg string) ProviderRef { return ProviderRef{URN: deniedStem + URN(pkg), ID: deniedID} }

// Denied returns the package of a reference made by [DeniedRef]. ok is false for every other reference.
func (p ProviderRef) Denied() (pkg string, ok bool) {
	rest, found := strings.CutPrefix(string(p.URN), string(deniedStem))
	return rest, found && p.ID == deniedID
}
