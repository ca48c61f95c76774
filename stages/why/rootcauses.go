package why

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// RootCause is the end of chains of reasons: one edit, option or outside event, with all effects of it in an operation. Each
// decision that changes something belongs to one root cause, so that the numbers of all add up to those of the operation.
type RootCause struct {
	Root   Root              `json:"root"`
	Reason stages.ReasonKind `json:"reason"`
	// Because is the reason in words, for causes without changes.
	Because string `json:"because"`
	// Setting is the setting that changed; "" if none did, or it is unknown.
	Setting string `json:"setting,omitempty"`
	// Changes are the changes of the cause; for a setting, its own. Values are those of all resources: they are missing where they
	// differ.
	Changes []Change `json:"changes,omitempty"`
	// Positions are the places where the program gives the changed values, in ascending order; settings have their own.
	Positions []string `json:"positions,omitempty"`
	// Of are the resources of a cause without direct effects, such as a read, from which other changes follow.
	Of []urn.URN `json:"of,omitempty"`
	// Departure is how a resource left the state before the operation, if that is the cause.
	Departure *Departure `json:"departure,omitempty"`
	// Direct are the direct effects. Following are those that follow through other resources. The most dangerous come first.
	Direct    []Effect `json:"direct"`
	Following []Effect `json:"following,omitempty"`
	// Through are the properties that pass the change on, those of most resources first.
	Through []string `json:"through,omitempty"`
}

// Effect is one kind of change to some resources.
type Effect struct {
	Op stages.Op `json:"op"`
	// Resources are in ascending order.
	Resources []urn.URN `json:"resources"`
}

// Count returns the number of resources of the effects.
func Count(effects []Effect) int {
	n := 0
	for _, e := range effects {
		n += len(e.Resources)
	}
	return n
}

// maxVariants is the number of root causes that may differ only in the values of the same properties. More are merged.
const maxVariants = 3

// causeFinder groups decisions by their root causes.
type causeFinder struct {
	log       *Log
	groups    map[string]*causeGroup
	followers [][]int // decisions that name a decision as a cause
	taken     []bool  // decisions that belong to a root cause
}

// causeGroup are the decisions of one root cause.
type causeGroup struct {
	key, shape string // shape is the key without values
	changes    []Change
	positions  map[string]bool
	direct     []int
	following  []int
	leading    map[int]bool // those of direct from which others follow
	through    map[string]int
	danger     int // of the most dangerous decision
}

// enter puts a decision into the group of its root cause, or below the decisions that led to it.
func (f *causeFinder) enter(i int) {
	d := &f.log.Decisions[i]
	for _, c := range d.Causes {
		if list := f.log.index.byURN[c]; len(list) > 0 {
			f.followers[list[0]] = append(f.followers[list[0]], i)
		}
	}
	own := ownChanges(d)
	if d.Op == stages.OpRefresh && f.actsOtherwise(d) {
		return // the other decision about it has the same cause
	}
	if len(own) == 0 && (len(d.Causes) > 0 || !slices.ContainsFunc(d.Roots, func(r Root) bool { return r != RootNone && r != RootFailure })) {
		return
	}
	f.taken[i] = true
	key, shape := keysOf(own)
	if len(own) == 0 {
		key = string(d.Reason) + "\x01" + string(d.Roots[0])
		if d.Departure != nil {
			key = d.Departure.key()
		}
		shape = key
	}
	g := f.groups[key]
	if g == nil {
		g = &causeGroup{key: key, shape: shape, changes: own, positions: map[string]bool{}, leading: map[int]bool{}, through: map[string]int{}, danger: stages.LeastDanger}
		f.groups[key] = g
	}
	g.direct = append(g.direct, i)
	g.danger = min(g.danger, d.danger())
	for _, c := range own {
		if c.Position != "" && c.Setting == nil {
			g.positions[c.Position] = true
		}
	}
	if len(own) == 0 && d.Position != "" && slices.Contains(d.Roots, RootProgram) {
		g.positions[d.Position] = true
	}
}

// actsOtherwise reports whether another decision about the resource of a refresh changes it.
func (f *causeFinder) actsOtherwise(refresh *Decision) bool {
	return slices.ContainsFunc(f.log.index.byURN[refresh.URN], func(i int) bool {
		d := &f.log.Decisions[i]
		return d.Op != stages.OpRefresh && d.acts()
	})
}

// ownChanges returns the changes that did not come from other resources. For a replacement, only those count that require it, if
// the provider named them. Changes that come from one setting are one change, of the setting.
func ownChanges(d *Decision) []Change {
	isOwn := func(c Change) bool { return c.Origin != FromResource }
	if !slices.ContainsFunc(d.Properties, isOwn) && !slices.ContainsFunc(d.Options, isOwn) {
		return nil
	}
	all := slices.Concat(d.Properties, d.Options)
	if d.Op == stages.OpReplace {
		if forced := slices.DeleteFunc(slices.Clone(all), func(c Change) bool { return !c.ForcesReplacement() }); len(forced) > 0 {
			all = forced
		}
	}
	var out []Change
	for _, c := range all {
		if !isOwn(c) {
			continue
		}
		if c.Position == "" && c.Origin == FromProgram {
			c.Position = d.Position
		}
		out = append(out, c)
	}
	for i, c := range out {
		if c.Setting != nil {
			out[i] = Change{Path: c.Setting.Key, Setting: c.Setting, Old: c.Setting.Old, New: c.Setting.New, Origin: FromConfiguration}
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	return slices.CompactFunc(out, func(a, b Change) bool { return keyOf(a) == keyOf(b) })
}

func isReplaceKind(kind string) bool { return strings.HasSuffix(kind, "replace") }

func keyOf(c Change) string {
	return shapeOf(c) + "\x01" + string(c.Old) + "\x01" + string(c.New) + "\x01" + string(c.Recorded)
}

func shapeOf(c Change) string { return string(c.Origin) + "\x01" + c.Place() }

func keysOf(changes []Change) (key, shape string) {
	var k, s strings.Builder
	for _, c := range changes {
		k.WriteString(keyOf(c) + "\x00")
		s.WriteString(shapeOf(c) + "\x00")
	}
	return k.String(), s.String()
}

// merged returns the groups. Those that differ only in values are one if there are many of them.
func (f *causeFinder) merged() []*causeGroup {
	shapes := map[string][]*causeGroup{}
	for _, key := range slices.Sorted(maps.Keys(f.groups)) {
		g := f.groups[key]
		shapes[g.shape] = append(shapes[g.shape], g)
	}
	var out []*causeGroup
	for _, shape := range slices.Sorted(maps.Keys(shapes)) {
		list := shapes[shape]
		if len(list) <= maxVariants {
			out = append(out, list...)
			continue
		}
		all := list[0]
		for _, g := range list[1:] {
			for i := range all.changes {
				all.changes[i].keepSame(g.changes[i])
			}
			all.direct = append(all.direct, g.direct...)
			all.danger = min(all.danger, g.danger)
			maps.Copy(all.positions, g.positions)
		}
		slices.Sort(all.direct)
		out = append(out, all)
	}
	return out
}

// compare orders groups by danger, then by number.
func (g *causeGroup) compare(other *causeGroup) int {
	return cmp.Or(cmp.Compare(g.danger, other.danger), cmp.Compare(len(other.direct)+len(other.following), len(g.direct)+len(g.following)),
		cmp.Compare(g.key, other.key))
}

// follow adds the decisions that follow from a group and belong to no other one.
func (f *causeFinder) follow(g *causeGroup) {
	todo := slices.Clone(g.direct)
	from := slices.Clone(g.direct) // the direct decision that each follows from
	for at := 0; at < len(todo); at++ {
		for _, i := range f.followers[todo[at]] {
			if f.taken[i] {
				continue
			}
			f.taken[i] = true
			todo, from = append(todo, i), append(from, from[at])
			d := &f.log.Decisions[i]
			if !d.acts() {
				continue
			}
			g.leading[from[at]] = true
			g.following = append(g.following, i)
			g.danger = min(g.danger, d.danger())
			for _, path := range d.through() {
				g.through[path]++
			}
		}
	}
	slices.Sort(g.following)
}

// cause returns the root cause of a group.
func (g *causeGroup) cause(l *Log) RootCause {
	first := &l.Decisions[g.direct[0]]
	c := RootCause{
		Reason: first.Reason, Changes: g.changes, Because: first.Because(), Departure: first.Departure, Positions: slices.Sorted(maps.Keys(g.positions)),
		Direct: l.effects(g.direct), Following: l.effects(g.following),
	}
	if len(c.Direct) == 0 && len(c.Changes) == 0 {
		c.Of = g.leaders(l)
		c.Positions = nil
		for _, i := range slices.Sorted(maps.Keys(g.leading)) {
			if at := l.Decisions[i].Position; at != "" && slices.Contains(l.Decisions[i].Roots, RootProgram) && !slices.Contains(c.Positions, at) {
				c.Positions = append(c.Positions, at)
			}
		}
		slices.Sort(c.Positions)
	}
	if len(first.Roots) > 0 {
		c.Root = first.Roots[0]
	}
	if len(g.changes) > 0 {
		c.Root = Root(g.changes[0].Origin)
		if c.Root == Root(FromCheck) {
			c.Root = RootProvider
		}
		if s := g.changes[0].Setting; s != nil && len(g.changes) == 1 {
			c.Setting = s.Key
		}
	}
	c.Through = slices.SortedFunc(maps.Keys(g.through), func(a, b string) int {
		return cmp.Or(cmp.Compare(g.through[b], g.through[a]), cmp.Compare(a, b))
	})
	return c
}

// leaders returns the resources of the group from which others follow, in ascending order.
func (g *causeGroup) leaders(l *Log) []urn.URN {
	var out []urn.URN
	for _, i := range slices.Sorted(maps.Keys(g.leading)) {
		out = append(out, l.Decisions[i].URN)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
