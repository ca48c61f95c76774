package display

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
)

// maskedText replaces a secret in output for people.
const maskedText = "[secret]"

// visible returns what may be shown of v, without the wrappers around it. shown is false for a secret that must not be
// shown; inner is then null. All of this package reads values only through this function.
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

// Scrub returns a function that replaces secret texts in the messages of events, because programs and providers may
// print their inputs. It keeps texts shorter than three characters, because replacing them would garble the messages.
func Scrub(secrets []string) func(stages.Event) stages.Event {
	var pairs []string
	sorted := slices.Clone(secrets)
	slices.SortFunc(sorted, func(a, b string) int { // longest first, because one secret may be part of another
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	for _, s := range slices.Compact(sorted) {
		if len(s) >= 3 {
			pairs = append(pairs, s, maskedText)
		}
	}
	if len(pairs) == 0 {
		return func(e stages.Event) stages.Event { return e }
	}
	replace := strings.NewReplacer(pairs...).Replace
	return func(e stages.Event) stages.Event {
		switch e := e.(type) {
		case stages.Diagnostic:
			e.Message = replace(e.Message)
			return e
		case stages.Stdout:
			e.Message = replace(e.Message)
			return e
		case stages.PolicyViolation:
			e.Message = replace(e.Message)
			return e
		case stages.StepFailed:
			if e.Err != nil {
				e.Err = errors.New(replace(e.Err.Error()))
			}
			return e
		}
		return e
	}
}
