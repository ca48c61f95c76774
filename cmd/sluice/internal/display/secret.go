package display

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
)

// maskedText replaces a secret in output for people.
const maskedText = redact.Mask

// visible returns the part of v that may be shown, without the wrappers around it. shown is false for a secret that must not be
// shown; inner is then null. All of this package reads values only through this function. The engine has already masked the secrets
// in texts.
func visible(v property.Value, showSecrets bool) (inner property.Value, shown bool) {
	if v.IsSealed() {
		return property.Null, false
	}
	inner, secret := v.Unwrap()
	if secret && !showSecrets {
		return property.Null, false
	}
	if inner.IsSealed() {
		return property.Null, false
	}
	return inner, true
}

// isSecret reports whether v itself is a secret, or sealed.
func isSecret(v property.Value) bool {
	inner, secret := v.Unwrap()
	return secret || inner.IsSealed() || v.IsSealed()
}

// secretIfAbove returns the value at a path of an object, wrapped as a secret if the path leads through one.
func secretIfAbove(m property.Map, at property.Path, v property.Value) property.Value {
	for i := 1; i < len(at) && !v.IsNull(); i++ {
		if above, _ := m.Lookup(at[:i]); isSecret(above) {
			return property.MakeSecret(v)
		}
	}
	return v
}

// isUndecided reports whether it is not known if v is a secret: it is unknown, and has no mark. SDKs may send an unknown without its mark.
func isUndecided(v property.Value) bool {
	inner, secret := v.Unwrap()
	return inner.IsUnknown() && !secret && !v.IsSealed()
}

// changesSecrecy reports whether a value has become a secret, or stopped being one.
func changesSecrecy(old, new property.Value) bool {
	return isSecret(old) != isSecret(new) && !isUndecided(old) && !isUndecided(new)
}

// secrecy describes whether a value has become a secret, or stopped being one. The masks of both values often look the same.
func secrecy(old, new property.Value) string {
	if !changesSecrecy(old, new) {
		return ""
	}
	text := " (no longer secret"
	if isSecret(new) {
		text = " (now secret"
	}
	if property.Equal(old.StripSecretsAndOutputs(), new.StripSecretsAndOutputs()) {
		return text + ", the same value)"
	}
	return text + ")"
}
