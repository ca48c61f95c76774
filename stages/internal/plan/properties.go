package plan

import (
	"slices"

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
