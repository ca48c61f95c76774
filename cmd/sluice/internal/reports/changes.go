package reports

import (
	"math"
	"slices"

	"github.com/sluice-iac/sluice/internal/text/comparison"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
)

// differences collects the differences between two objects.
type differences struct {
	step   stages.StepInfo
	viewer why.Viewer
	most   int
	out    []Change
	more   int // differences without room
}

func (c *differences) compare(old, new property.Map) {
	var hidden []property.Path
	if c.step.New != nil {
		for _, text := range c.step.New.HideDiff {
			if p, err := property.ParsePath(text); err == nil && len(p) > 0 {
				hidden = append(hidden, p)
			}
		}
	}
	names := slices.Concat(old.Names(), new.Names())
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if property.IsInternalName(name) {
			continue
		}
		all, _ := c.viewer.Differences(old, new, property.Path{property.Key(name)}, math.MaxInt)
		for _, d := range all {
			c.add(d, hidden)
		}
		if len(all) == 0 && !property.Equal(old.At(name), new.At(name)) { // only the order of items, or the format of a document, differs
			at := property.Path{property.Key(name)}
			d := why.Differing{Difference: comparison.Difference{Old: at, New: at, Was: old.At(name), Is: new.At(name)}}
			d.Old, d.New = c.viewer.Pair(old, new, at)
			c.add(d, hidden)
		}
	}
}

// add adds one difference, if there is room.
func (c *differences) add(d why.Differing, hidden []property.Path) {
	if len(c.out) == c.most {
		c.more++
		return
	}
	at := d.Path()
	change := Change{Path: at.String(), Format: d.Format, Within: d.Within.String(), Kind: Updated, Replaces: c.replaces(at)}
	switch {
	case d.Was.IsNull():
		change.Kind = Added
	case d.Is.IsNull():
		change.Kind = Removed
	}
	if change.Hidden = slices.ContainsFunc(hidden, func(h property.Path) bool { return h.Contains(at) }); !change.Hidden {
		change.Old, change.New = d.Old, d.New
	}
	c.out = append(c.out, change)
}

// replaces reports whether the provider requires a replacement for a change at a path.
func (c *differences) replaces(at property.Path) bool {
	for text, d := range c.step.DetailedDiff {
		if p, err := property.ParsePath(text); err == nil && d.Kind.IsReplace() && (p.Contains(at) || at.Contains(p)) {
			return true
		}
	}
	return len(c.step.DetailedDiff) == 0 && slices.Contains(c.step.Keys, at[0].Key)
}

// annotate adds the origins of new values, and the changes that only the provider has found.
func (c *differences) annotate(d *why.Decision) {
	at := make(map[string]int, len(c.out))
	for i, change := range c.out {
		at[change.place()] = i
	}
	for _, change := range decided(d) {
		i, known := at[change.place()]
		switch {
		case known:
			c.out[i].Origin, c.out[i].From = change.Origin, change.From
			c.out[i].Replaces = c.out[i].Replaces || change.Replaces
		case len(c.out) == c.most:
			c.more++
		default:
			c.out = append(c.out, change)
		}
	}
}

// decided returns the changes of a decision.
func decided(d *why.Decision) []Change {
	var out []Change
	for _, list := range [][]why.Change{d.Properties, d.Unnamed, d.Options} {
		for _, c := range list {
			out = append(out, Change{
				Path: c.Path, Format: c.Format, Within: c.Within, Kind: kindOf(c), Replaces: c.ForcesReplacement(), Old: c.Old, New: c.New, Origin: c.Origin, From: c.From,
			})
		}
	}
	return out
}

func kindOf(c why.Change) ChangeKind {
	switch {
	case c.Old == nil && c.New != nil:
		return Added
	case c.Old != nil && c.New == nil:
		return Removed
	}
	return Updated
}
