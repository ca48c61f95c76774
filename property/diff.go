package property

import (
	"iter"
	"maps"
	"slices"
)

// ObjectDiff is the difference between two objects. A property is in exactly one of the four maps; a property whose
// value is null counts as missing.
type ObjectDiff struct {
	Adds    map[string]Value
	Deletes map[string]Value
	Updates map[string]ValueDiff
	Sames   map[string]Value // the old values
}

// ArrayDiff is the difference between two arrays, index by index: elements that only the longer one has are adds or
// deletes.
type ArrayDiff struct {
	Adds    map[int]Value
	Deletes map[int]Value
	Updates map[int]ValueDiff
	Sames   map[int]Value
}

// ValueDiff is one changed value. Object or Array is set when both sides are of that type; both are nil otherwise.
type ValueDiff struct {
	Old, New Value
	Object   *ObjectDiff
	Array    *ArrayDiff
}

// Diff compares two objects at every depth, in the sense of [Equal], and returns nil when they are equal. Secret and
// output wrappers are part of the values; strip them first where they are not to count ([steps.md 3.8]). ignore may be
// nil. Places for which it returns true are left out, with everything inside them; it must not keep the path.
//
// [steps.md 3.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#38-diff
func Diff(old, new Map, ignore func(Path) bool) *ObjectDiff {
	if ignore == nil && EqualMaps(old, new) {
		return nil // most comparisons end here, without building anything
	}
	return differ{ignore: ignore}.objects(nil, old, new)
}

type differ struct{ ignore func(Path) bool }

func (d differ) ignores(p Path) bool { return d.ignore != nil && d.ignore(p) }

// at extends a path if one is kept.
func (d differ) at(p Path, e Element) Path {
	if d.ignore == nil {
		return nil
	}
	return append(p, e)
}

func (d differ) objects(p Path, old, new Map) *ObjectDiff {
	out := &ObjectDiff{
		Adds: map[string]Value{}, Deletes: map[string]Value{}, Updates: map[string]ValueDiff{}, Sames: map[string]Value{},
	}
	for k, o := range old.All() {
		at := d.at(p, Key(k))
		if d.ignores(at) {
			continue
		}
		n, both := new.Get(k)
		switch {
		case o.IsNull() && n.IsNull():
			if both {
				out.Sames[k] = o
			}
		case n.IsNull():
			out.Deletes[k] = o
		case o.IsNull():
			out.Adds[k] = n
		default:
			if v := d.values(at, o, n); v != nil {
				out.Updates[k] = *v
			} else {
				out.Sames[k] = o
			}
		}
	}
	for k, n := range new.All() {
		if _, inOld := old.Get(k); !inOld && !n.IsNull() && !d.ignores(d.at(p, Key(k))) {
			out.Adds[k] = n
		}
	}
	if len(out.Adds)+len(out.Deletes)+len(out.Updates) == 0 {
		return nil
	}
	return out
}

func (d differ) values(p Path, old, new Value) *ValueDiff {
	switch o := old.v.(type) {
	case Map:
		if n, ok := new.v.(Map); ok {
			if obj := d.objects(p, o, n); obj != nil {
				return &ValueDiff{Old: old, New: new, Object: obj}
			}
			return nil
		}
	case Array:
		if n, ok := new.v.(Array); ok {
			if arr := d.arrays(p, o, n); arr != nil {
				return &ValueDiff{Old: old, New: new, Array: arr}
			}
			return nil
		}
	}
	if Equal(old, new) {
		return nil
	}
	return &ValueDiff{Old: old, New: new}
}

func (d differ) arrays(p Path, old, new Array) *ArrayDiff {
	out := &ArrayDiff{
		Adds: map[int]Value{}, Deletes: map[int]Value{}, Updates: map[int]ValueDiff{}, Sames: map[int]Value{},
	}
	for i := range max(len(old.a), len(new.a)) {
		at := d.at(p, Index(i))
		switch {
		case d.ignores(at):
		case i >= len(old.a):
			out.Adds[i] = new.a[i]
		case i >= len(new.a):
			out.Deletes[i] = old.a[i]
		default:
			if v := d.values(at, old.a[i], new.a[i]); v != nil {
				out.Updates[i] = *v
			} else {
				out.Sames[i] = old.a[i]
			}
		}
	}
	if len(out.Adds)+len(out.Deletes)+len(out.Updates) == 0 {
		return nil
	}
	return out
}

// IsEmpty reports whether nothing changed. The nil diff is empty.
func (d *ObjectDiff) IsEmpty() bool {
	return d == nil || len(d.Adds)+len(d.Deletes)+len(d.Updates) == 0
}

// ChangedKeys returns the top-level names that were added, deleted or updated, in ascending byte order.
func (d *ObjectDiff) ChangedKeys() []string {
	if d == nil {
		return nil
	}
	keys := slices.Concat(slices.Collect(maps.Keys(d.Adds)), slices.Collect(maps.Keys(d.Deletes)),
		slices.Collect(maps.Keys(d.Updates)))
	slices.Sort(keys)
	return keys
}

// Len returns the length of the longer array.
func (d *ArrayDiff) Len() int { return len(d.Adds) + len(d.Deletes) + len(d.Updates) + len(d.Sames) }

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

// Changes yields the changed leaves in ascending order of their place: the entries of a detailed diff ([steps.md 3.8]).
// An added or deleted object is one change, not one for each property in it.
//
// [steps.md 3.8]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#38-diff
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
