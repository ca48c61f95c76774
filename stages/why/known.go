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

// Known is the data about an operation besides its decisions. The zero value has none.
type Known struct {
	// IsSensitive reports whether a text contains a secret that is not marked as one, such as a setting that a provider has
	// printed. nil means that no text does.
	IsSensitive func(string) bool
	// Locate returns the places where the program gives values, and the settings in them. If a place is unknown, a changed value is
	// attributed to a setting that has changed from and to the same value.
	Locate stages.Locate
	// Settings returns the settings that have changed since the last operation, in ascending order. It is called at most once, and
	// only if the program gives a value that has changed. nil means none.
	Settings func() []ChangedSetting
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
	if k.Settings == nil {
		k.Settings = func() []ChangedSetting { return nil }
	}
	k.Settings = sync.OnceValue(k.Settings)
	return k
}

// fromProgram describes the origin of a changed value in the program: a setting that has changed too, or the program itself.
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

// settingTexts returns the new texts of the changed settings in a value of the program. Outputs of other resources may contain the
// same texts, because those resources use the same settings.
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

// isFrom reports whether a changed value comes from a changed setting, as far as that can be determined.
func (e *evidence) isFrom(s ChangedSetting, place stages.Place, known bool, was, is property.Map, at property.Path) bool {
	if known {
		return slices.Contains(place.Settings, s.Key)
	}
	return !s.Secret && s.Old != "" && s.Old == scalarText(was, at) && s.New == scalarText(is, at)
}

// fromPackage describes the changed setting of a package from which a default provider has a changed value, if it is known.
func (e *evidence) fromPackage(c *Change, at property.Path) {
	for _, s := range e.known.Settings() {
		if s.Key == e.step.Type.ProviderPackage()+":"+at[0].Key {
			c.Setting = e.setting(s)
		}
	}
}

// setting returns a changed setting in the form of a log.
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

// scalarText returns a value as the text of a setting, "" for a value that cannot be a setting.
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
