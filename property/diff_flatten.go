package property

import (
	"iter"
	"maps"
	"slices"
)

// ChangeKind is the kind of change of one place.
type ChangeKind uint8

// The kinds of change.
const (
	Added ChangeKind = iota
	Deleted
	Updated
)

// Change is one changed place of a flattened diff.
type Change struct {
	Path     Path
	Kind     ChangeKind
	Old, New Value // null where there is none
}

// Changes yields the changed leaves in ascending order of their place: the entries of a detailed diff (steps.md 3.8).
// An added or deleted object is one change, not one for each property in it.
func (d *ObjectDiff) Changes() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		if d != nil {
			d.changes(nil, yield)
		}
	}
}

func (d *ObjectDiff) changes(p Path, yield func(Change) bool) bool {
	for _, k := range d.ChangedKeys() {
		at := p.With(Key(k))
		if !changeAt(at, k, d.Adds, d.Deletes, d.Updates, yield) {
			return false
		}
	}
	return true
}

func (d *ArrayDiff) changes(p Path, yield func(Change) bool) bool {
	indexes := slices.Concat(slices.Collect(maps.Keys(d.Adds)), slices.Collect(maps.Keys(d.Deletes)),
		slices.Collect(maps.Keys(d.Updates)))
	slices.Sort(indexes)
	for _, i := range indexes {
		at := p.With(Index(i))
		if !changeAt(at, i, d.Adds, d.Deletes, d.Updates, yield) {
			return false
		}
	}
	return true
}

func changeAt[K comparable](
	at Path, k K, adds, deletes map[K]Value, updates map[K]ValueDiff, yield func(Change) bool,
) bool {
	if v, ok := adds[k]; ok {
		return yield(Change{Path: at, Kind: Added, New: v})
	}
	if v, ok := deletes[k]; ok {
		return yield(Change{Path: at, Kind: Deleted, Old: v})
	}
	v := updates[k]
	return v.changes(at, yield)
}

func (d ValueDiff) changes(p Path, yield func(Change) bool) bool {
	switch {
	case d.Object != nil:
		return d.Object.changes(p, yield)
	case d.Array != nil:
		return d.Array.changes(p, yield)
	case d.Old.IsNull():
		return yield(Change{Path: p, Kind: Added, New: d.New})
	case d.New.IsNull():
		return yield(Change{Path: p, Kind: Deleted, Old: d.Old})
	default:
		return yield(Change{Path: p, Kind: Updated, Old: d.Old, New: d.New})
	}
}
