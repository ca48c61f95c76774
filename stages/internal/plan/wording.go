package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// wording describes properties in the texts of violations.
type wording struct {
	showSecrets bool
}

// bracedLimit is the length up to which a message shows a value.
const bracedLimit = 200

// braced returns a value in the first line of a violation, which Pulumi writes in this way: {1}, {map[a:{x}]}, output<string>{} for an unknown one.
func (w wording) braced(v property.Value) string {
	text := w.bracedValue(v)
	if len(text) > bracedLimit {
		return strings.ToValidUTF8(text[:bracedLimit], "") + "…}"
	}
	return text
}

func (w wording) bracedValue(v property.Value) string {
	switch {
	case v.IsUnknown():
		return "output<string>{}"
	case v.IsSecret() && w.showSecrets:
		return w.bracedValue(v.AsSecret())
	case v.IsSecret():
		return "{[secret]}"
	case v.IsArray():
		var parts []string
		for _, e := range v.AsArray().All() {
			parts = append(parts, w.bracedValue(e))
		}
		return "{[" + strings.Join(parts, " ") + "]}"
	case v.IsMap():
		var parts []string
		for name, e := range v.AsMap().All() {
			parts = append(parts, name+":"+w.bracedValue(e))
		}
		return "{map[" + strings.Join(parts, " ") + "]}"
	case v.IsString():
		return "{" + v.AsString() + "}"
	case v.IsNumber():
		return fmt.Sprintf("{%v}", v.AsNumber())
	case v.IsBool():
		return fmt.Sprintf("{%v}", v.AsBool())
	case v.IsAsset():
		return "{asset " + v.AsAsset().Hash + "}"
	case v.IsArchive():
		return "{archive " + v.AsArchive().Hash + "}"
	case v.IsReference():
		return fmt.Sprintf("{%v}", v.AsReference().URN)
	}
	return "{<nil>}"
}

// changedProperties returns the properties that change otherwise than planned (steps.md 12.3), nil if there are none.
func (w wording) changedProperties(former, now property.Map, plan state.PlannedDiff) *difference {
	names := map[string]bool{}
	for _, m := range []property.Map{former, now, plan.Adds, plan.Updates} {
		for _, name := range m.Names() {
			names[name] = true
		}
	}
	for _, name := range plan.Deletes {
		names[name] = true
	}
	var texts, planned, actual []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := propertyChange{was: former.At(name), is: now.At(name)}
		c.plan(name, plan)
		if c.isPlanned() {
			continue
		}
		texts = append(texts, c.planned+c.actual()+name+w.sides(c))
		planned = append(planned, "`"+name+"` "+w.plannedSide(c))
		actual = append(actual, "`"+name+"` "+w.actualSide(c))
	}
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	return &difference{
		text: "properties changed: " + strings.Join(texts, ", "), planned: strings.Join(planned, ", "), now: strings.Join(actual, ", "),
	}
}

// sides are the values of a violation: [planned!=actual].
func (w wording) sides(c propertyChange) string {
	var values []string
	for _, v := range []property.Value{c.expected, c.is} {
		if !v.IsNull() {
			values = append(values, w.braced(v))
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "[" + strings.Join(values, "!=") + "]"
}

func (w wording) plannedSide(c propertyChange) string {
	switch {
	case c.planned == propertyDeleted:
		return "is deleted"
	case c.planned == propertySame && c.was.IsNull():
		return "is not set"
	case c.planned == propertySame:
		return "stays " + w.shown(c.was)
	}
	return "becomes " + w.shown(c.expected)
}

func (w wording) actualSide(c propertyChange) string {
	is := w.shown(c.is)
	switch {
	case c.is.IsNull():
		return "is not set"
	case c.planned == propertySame && is == w.shown(c.was), c.planned != propertySame && is == w.shown(c.expected):
		return "is another " + is // they differ in what is not shown
	}
	return "is " + is
}

// shown returns a value for people.
func (w wording) shown(v property.Value) string {
	if w.showSecrets {
		v = v.StripSecrets()
	}
	return v.String()
}
