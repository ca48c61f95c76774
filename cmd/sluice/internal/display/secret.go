package display

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
)

// maskedText replaces a secret in output for people.
const maskedText = redact.Mask

// visible returns what may be shown of v, without the wrappers around it. shown is false for a secret that must not be
// shown; inner is then null. All of this package reads values only through this function. In texts the engine has masked the secrets.
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
