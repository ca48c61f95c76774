package urn

import (
	"fmt"
	"strings"
)

// UnknownID is the ID of a resource that has not been created yet, as it occurs in provider references and on the wire
// (protocol.md 2.2).
const UnknownID = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

const (
	deniedStem = URN("urn:pulumi:denied::denied::pulumi:providers:denied::")
	deniedID   = "denydefaultprovider"
)

// ProviderRef names one provider resource together with its ID: "<URN>::<ID>" (protocol.md 0.3, state.md 1.13). The
// zero value means "no provider".
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
func (r ProviderRef) String() string {
	if r.URN == "" {
		return ""
	}
	return string(r.URN) + separator + or(r.ID, UnknownID)
}

// IsKnown reports whether the provider resource has been created.
func (r ProviderRef) IsKnown() bool { return r.ID != "" && r.ID != UnknownID }

// Package returns the package that the provider serves.
func (r ProviderRef) Package() string { return r.URN.Type().ProviderPackage() }

// DeniedRef is the reference that resources get when the default provider of their package is switched off
// (protocol.md 4.5).
func DeniedRef(pkg string) ProviderRef { return ProviderRef{URN: deniedStem + URN(pkg), ID: deniedID} }

// Denied returns the package of a reference made by [DeniedRef]. ok is false for every other reference.
func (r ProviderRef) Denied() (pkg string, ok bool) {
	rest, found := strings.CutPrefix(string(r.URN), string(deniedStem))
	return rest, found && r.ID == deniedID
}
