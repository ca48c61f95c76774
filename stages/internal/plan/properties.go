package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// The ways in which a property can change, in the words of violations.
const (
	propertyAdded   = "+"
	propertyUpdated = "~"
	propertyDeleted = "-"
	propertySame    = "="
)

// changedProperties returns the properties that change otherwise than planned (steps.md 12.3), nil if there are none.
func (p *Plans) changedProperties(former, now property.Map, plan state.PlannedDiff) *difference {
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
		texts = append(texts, c.planned+c.actual()+name+p.sides(c))
		planned = append(planned, "`"+name+"` "+p.plannedSide(c))
		actual = append(actual, "`"+name+"` "+p.actualSide(c))
	}
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	return &difference{
		text: "properties changed: " + strings.Join(texts, ", "), planned: strings.Join(planned, ", "), now: strings.Join(actual, ", "),
	}
}

// propertyChange is the planned and the actual change of one property. A null value is none.
type propertyChange struct {
	was, is  property.Value
	planned  string
	expected property.Value // null when no value was planned
}

func (c *propertyChange) plan(name string, p state.PlannedDiff) {
	c.planned = propertySame
	if v, ok := p.Adds.Get(name); ok {
		c.planned, c.expected = propertyAdded, v
	} else if v, ok := p.Updates.Get(name); ok {
		c.planned, c.expected = propertyUpdated, v
	} else if slices.Contains(p.Deletes, name) {
		c.planned = propertyDeleted
	}
}

// actual returns how the property does change. A planned property that is absent counts as deleted, whatever it was.
func (c *propertyChange) actual() string {
	switch {
	case c.is.IsNull():
		return propertyDeleted
	case c.was.IsNull():
		return propertyAdded
	case property.Fits(c.was, c.is):
		return propertySame
	}
	return propertyUpdated
}

func (c *propertyChange) isPlanned() bool {
	absent := c.is.IsNull()
	deletes := absent && !c.was.IsNull() && !isUnknown(c.was)
	switch c.planned {
	case propertyAdded:
		if absent {
			return isUnknown(c.expected) && !deletes // it may have turned out to be nothing
		}
		return property.Fits(c.expected, c.is)
	case propertyUpdated:
		if absent {
			return isUnknown(c.expected)
		}
		return !c.was.IsNull() && property.Fits(c.expected, c.is) // a property to be updated must exist
	case propertyDeleted:
		return absent
	}
	// It was planned to stay as it is.
	if absent {
		return !deletes
	}
	return !c.was.IsNull() && property.Fits(c.was, c.is)
}

func isUnknown(v property.Value) bool { return v.StripSecrets().IsUnknown() }

// sides are the values of a violation: [planned!=actual].
func (p *Plans) sides(c propertyChange) string {
	var values []string
	for _, v := range []property.Value{c.expected, c.is} {
		if !v.IsNull() {
			values = append(values, p.braced(v))
		}
	}
	if len(values) == 0 {
		return ""
	}
	return "[" + strings.Join(values, "!=") + "]"
}

func (p *Plans) plannedSide(c propertyChange) string {
	switch {
	case c.planned == propertyDeleted:
		return "is deleted"
	case c.planned == propertySame && c.was.IsNull():
		return "is not set"
	case c.planned == propertySame:
		return "stays " + p.braced(c.was)
	}
	return "becomes " + p.braced(c.expected)
}

func (p *Plans) actualSide(c propertyChange) string {
	if c.is.IsNull() {
		return "is not set"
	}
	return "is " + p.braced(c.is)
}
