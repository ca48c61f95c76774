package why

import (
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Known is the data about an operation besides its decisions. The zero value has none.
type Known struct {
	// IsSensitive reports whether a text contains a secret that is not marked as one, such as a setting that a provider has
	// printed. nil means that no text does.
	IsSensitive func(string) bool
	// Locate returns the places where the program gives values, and the settings in them. If a place is unknown, a changed value is
	// attributed to a setting that has changed from and to the same value, or that has the same value and is or was not set otherwise.
	Locate stages.Locate
	// Settings returns the settings that have changed since the last operation, in ascending order. It is called at most once, and
	// only if the program gives a value that has changed. nil means none.
	Settings func() []ChangedSetting
	// Statement returns the line of the program that gives a changed input, from the stack frames of the registration. It is called for
	// values that Locate does not locate. nil locates none.
	Statement func(frames []state.StackFrame, at property.Path, old, new property.Value) (position string, ok bool)
	// Declaration returns the line of the program that makes a resource, from the stack frames of the registration. nil locates none.
	Declaration func(frames []state.StackFrame) (position string, ok bool)
	// Failures are the errors that made the operation fail, ordered by URN.
	Failures []stages.Failure
}

// ChangedSetting is a setting that has changed. Old and New are texts as the program gets them, "" where it is not set.
type ChangedSetting struct {
	Key      string // "shop:region"
	Old, New string
	Secret   bool   // neither text is shown; both may be ""
	Position string // "Pulumi.dev.yaml:3"
}

// withDefaults returns k with functions for everything.
func (k Known) withDefaults() Known {
	if k.Locate == nil {
		k.Locate = func(urn.URN, property.Path) (stages.Place, bool) { return stages.Place{}, false }
	}
	if k.Statement == nil {
		k.Statement = func([]state.StackFrame, property.Path, property.Value, property.Value) (string, bool) {
			return "", false
		}
	}
	if k.Declaration == nil {
		k.Declaration = func([]state.StackFrame) (string, bool) { return "", false }
	}
	if k.Settings == nil {
		k.Settings = func() []ChangedSetting { return nil }
	}
	k.Settings = sync.OnceValue(k.Settings)
	return k
}
