package why

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Known is what is known of an operation beside what it decided. The zero value is nothing.
type Known struct {
	// IsSensitive reports whether a text has a secret in it that is not marked as one, such as a setting that a provider has
	// printed; nil takes none to have.
	IsSensitive func(string) bool
	// Locate knows where the program gives values, and of which settings it makes them. If it knows no place, a changed value
	// comes from a setting that has changed from and to the same value.
	Locate stages.Locate
	// Settings returns the settings that have changed since the last operation, in ascending order. It is called at most once, and
	// only if the program gives a value that has changed. nil knows of none.
	Settings func() []ChangedSetting
}

// ChangedSetting is a setting that has changed. Old and New are texts as the program gets them, "" if it was not, or is not, set.
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
	if k.Settings == nil {
		k.Settings = func() []ChangedSetting { return nil }
	}
	k.Settings = sync.OnceValue(k.Settings)
	return k
}

// fromProgram describes where the program has a changed value from: a setting that has changed too, or itself.
func (e *evidence) fromProgram(c *Change, was, is property.Map, at property.Path) {
	place, known := e.known.Locate(e.decision.URN, at)
	c.Position = place.Position
	for _, s := range e.known.Settings() {
		if e.isFrom(s, place, known, was, is, at) {
			c.Origin, c.Setting = FromConfiguration, e.setting(s)
			return
		}
	}
}

// settingTexts returns the new texts of the changed settings that the program makes a value of, in which the outputs of other resources may
// be, too: those resources use the same settings.
func (e *evidence) settingTexts(was, is property.Map, at property.Path) map[string]bool {
	place, known := e.known.Locate(e.decision.URN, at)
	out := map[string]bool{}
	for _, s := range e.known.Settings() {
		if s.New != "" && e.isFrom(s, place, known, was, is, at) {
			out[s.New] = true
		}
	}
	return out
}

// isFrom reports whether the program makes a changed value of a changed setting, as far as anybody can know.
func (e *evidence) isFrom(s ChangedSetting, place stages.Place, known bool, was, is property.Map, at property.Path) bool {
	if known {
		return slices.Contains(place.Settings, s.Key)
	}
	return !s.Secret && s.Old != "" && s.Old == scalarText(was, at) && s.New == scalarText(is, at)
}

// fromPackage describes the setting of a package that a default provider has a changed value from, if it is known.
func (e *evidence) fromPackage(c *Change, at property.Path) {
	for _, s := range e.known.Settings() {
		if s.Key == e.step.Type.ProviderPackage()+":"+at[0].Key {
			c.Setting = e.setting(s)
		}
	}
}

// setting returns what a log keeps of a changed setting.
func (e *evidence) setting(s ChangedSetting) *Setting {
	out := &Setting{Key: s.Key, Position: s.Position, Old: e.settingText(s.Old), New: e.settingText(s.New)}
	if s.Secret {
		out.Old, out.New = encoded(secretText), encoded(secretText)
	}
	return out
}

func (e *evidence) settingText(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return encoded(e.text(text))
}

// scalarText returns a value as the text of a setting, "" for one that no setting is.
func scalarText(m property.Map, at property.Path) string {
	v, _ := m.Lookup(at)
	v = v.StripSecretsAndOutputs()
	switch {
	case v.IsString():
		return v.AsString()
	case v.IsNumber():
		return strconv.FormatFloat(v.AsNumber(), 'f', -1, 64)
	case v.IsBool():
		return strconv.FormatBool(v.AsBool())
	}
	return ""
}
