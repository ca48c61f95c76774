package comparison

import (
	"hash/maphash"
	"math"
	"strconv"

	"github.com/sluice-iac/sluice/internal/align"
	"github.com/sluice-iac/sluice/property"
)

// Nowhere is the index of an item in the array that does not have it.
const Nowhere = -1

// Item is what became of one item of an array: its index in the old array and in the new one.
type Item struct {
	Old, New int
	Moved    bool // it is among others than before
}

// itemKeys are the properties by which people tell the items of a list apart, the best one first.
var itemKeys = [...]string{"name", "Name", "id", "Id", "ID", "key", "Key", "sid", "Sid"}

// Items finds out which items of two arrays belong together, and returns them in the order of the new array, with the removed ones where
// they were. Items of which all have a name, an ID or a key are matched by that; others belong together if they are equal, or if they
// are at the same place between such and not too different. key is the property that they were matched by, "" if there is none.
func Items(old, new property.Array) (items []Item, key string) {
	key, oldIDs, newIDs := keysOf(old, new)
	if key == "" {
		known := &interner{of: map[uint64][]numbered{}, seed: maphash.MakeSeed()}
		oldIDs, newIDs = known.all(old), known.all(new)
	}
	kept := align.Common(oldIDs, newIDs)
	moved := movedItems(oldIDs, newIDs, kept)
	o, n := 0, 0
	for _, k := range append(kept, align.Pair{Old: old.Len(), New: new.Len()}) {
		items = between(items, old, new, align.Pair{Old: o, New: n}, k, moved, key)
		if k.Old < old.Len() {
			items = append(items, Item{Old: k.Old, New: k.New})
		}
		o, n = k.Old+1, k.New+1
	}
	return items, key
}

// moves are the items that are in both arrays among different others.
type moves struct {
	toOld   map[int]int // by index in the new array
	fromOld map[int]bool
}

func movedItems(old, new []string, kept []align.Pair) moves {
	m := moves{map[int]int{}, map[int]bool{}}
	keptOld, keptNew := make([]bool, len(old)), make([]bool, len(new))
	for _, k := range kept {
		keptOld[k.Old], keptNew[k.New] = true, true
	}
	left := map[string][]int{}
	for i, id := range old {
		if !keptOld[i] {
			left[id] = append(left[id], i)
		}
	}
	for i, id := range new {
		if from := left[id]; !keptNew[i] && len(from) > 0 {
			m.toOld[i], m.fromOld[from[0]] = from[0], true
			left[id] = from[1:]
		}
	}
	return m
}

// between adds what is between two kept items: from includes the first place, and to does not.
func between(items []Item, old, new property.Array, from, to align.Pair, moved moves, key string) []Item {
	var gone, came []int
	for i := from.Old; i < to.Old; i++ {
		if !moved.fromOld[i] {
			gone = append(gone, i)
		}
	}
	for i := from.New; i < to.New; i++ {
		if _, was := moved.toOld[i]; !was {
			came = append(came, i)
		}
	}
	pairs := alike(old, new, gone, came, key)
	removed := func(before int) {
		for len(gone) > 0 && gone[0] < before {
			items = append(items, Item{Old: gone[0], New: Nowhere})
			gone = gone[1:]
		}
	}
	next := 0 // what is before the first item that came and has a pair is removed before others are added
	for i := from.New; i < to.New; i++ {
		for ; next < len(came) && (came[next] < i || !isPaired(pairs, came[next])); next++ {
		}
		if next < len(came) {
			removed(pairs[came[next]])
		} else {
			removed(to.Old)
		}
		switch o, was := moved.toOld[i]; {
		case was:
			items = append(items, Item{Old: o, New: i, Moved: true})
		case isPaired(pairs, i):
			items = append(items, Item{Old: pairs[i], New: i})
			gone = gone[1:]
		default:
			items = append(items, Item{Old: Nowhere, New: i})
		}
	}
	removed(to.Old)
	return items
}

func isPaired(pairs map[int]int, i int) bool {
	_, ok := pairs[i]
	return ok
}

// maxComparisons is how many pairs of items are compared at one place to find those that are most alike.
const maxComparisons = 256

// alike pairs items that are gone with items that came, in their order, so that they are as much alike as possible. It returns the old index of
// each new one.
func alike(old, new property.Array, gone, came []int, key string) map[int]int {
	pairs := map[int]int{}
	if len(gone)*len(came) > maxComparisons {
		for i := range min(len(gone), len(came)) {
			if likeness(old.At(gone[i]), new.At(came[i]), key) > 0 {
				pairs[came[i]] = gone[i]
			}
		}
		return pairs
	}
	// best[i][j] is the likeness of the best pairs among the items from gone[i] and came[j] on.
	score, best := make([][]int, len(gone)), make([][]int, len(gone)+1)
	best[len(gone)] = make([]int, len(came)+1)
	for i := len(gone) - 1; i >= 0; i-- {
		score[i], best[i] = make([]int, len(came)), make([]int, len(came)+1)
		for j := len(came) - 1; j >= 0; j-- {
			score[i][j] = likeness(old.At(gone[i]), new.At(came[j]), key)
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+score[i][j])
		}
	}
	for i, j := 0, 0; i < len(gone) && j < len(came); {
		switch {
		case score[i][j] > 0 && best[i][j] == best[i+1][j+1]+score[i][j]:
			pairs[came[j]] = gone[i]
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// likeness says how much two items are alike; 0 if one is better shown as removed and the other as added. Objects with different keys
// have to agree in half of the rest.
func likeness(old, new property.Value, key string) int {
	old, _ = old.Unwrap()
	new, _ = new.Unwrap()
	switch {
	case old.IsMap() != new.IsMap() || old.IsArray() != new.IsArray():
		return 0
	case !old.IsMap():
		return 1
	}
	a, b := old.AsMap(), new.AsMap()
	equal, both := 0, 0
	for name, v := range a.All() {
		w, ok := b.Get(name)
		if ok {
			both++
		}
		if ok && property.Equal(v, w) {
			equal++
		}
	}
	if both == 0 || key != "" && 2*equal < max(a.Len(), b.Len())-1 || key != "" && equal == 0 {
		return 0
	}
	return 1 + 2*equal
}

// keysOf returns the property by which all items of two arrays can be told apart, and its values.
func keysOf(old, new property.Array) (key string, oldIDs, newIDs []string) {
	for _, key := range itemKeys {
		oldIDs, ok := keyValues(old, key)
		if !ok {
			continue
		}
		if newIDs, ok := keyValues(new, key); ok && len(oldIDs)+len(newIDs) > 0 {
			return key, oldIDs, newIDs
		}
	}
	return "", nil, nil
}

// keyValues returns the values of a property, if each item has one, no two have the same, and none is secret or unknown.
func keyValues(a property.Array, key string) ([]string, bool) {
	out := make([]string, a.Len())
	seen := make(map[string]bool, a.Len())
	for i, e := range a.All() {
		v := e.AsMap().At(key) // null for a secret object
		switch {
		case v.IsString():
			out[i] = v.AsString()
		case v.IsNumber():
			out[i] = strconv.FormatFloat(v.AsNumber(), 'g', -1, 64)
		default:
			return nil, false
		}
		if seen[out[i]] {
			return nil, false
		}
		seen[out[i]] = true
	}
	return out, true
}

// interner numbers values: equal ones have the same number, whether they are secret or not.
type interner struct {
	of   map[uint64][]numbered // by hash
	seed maphash.Seed
	next int
}

type numbered struct {
	value  property.Value
	number string
}

// maxSameHash is how many values with one hash are told apart. Beyond that they count as different, also if they are equal.
const maxSameHash = 8

func (n *interner) all(a property.Array) []string {
	out := make([]string, a.Len())
	for i, e := range a.All() {
		out[i] = n.number(e.StripSecretsAndOutputs())
	}
	return out
}

func (n *interner) number(v property.Value) string {
	var h maphash.Hash
	h.SetSeed(n.seed)
	hashValue(&h, v)
	sum := h.Sum64()
	for _, known := range n.of[sum] {
		if property.Equal(known.value, v) {
			return known.number
		}
	}
	n.next++
	number := strconv.Itoa(n.next)
	if len(n.of[sum]) < maxSameHash {
		n.of[sum] = append(n.of[sum], numbered{v, number})
	}
	return number
}

// hashValue adds a value to a hash. Values that are equal in the sense of [property.Equal] have the same hash; those of assets and other values that
// are rare in long arrays have few different ones.
func hashValue(h *maphash.Hash, v property.Value) {
	switch {
	case v.IsBool():
		h.WriteString("b" + strconv.FormatBool(v.AsBool()))
	case v.IsNumber():
		h.WriteByte('n')
		if f := v.AsNumber(); f == f && f != 0 { // NaN equals NaN, and 0 equals -0
			maphash.WriteComparable(h, math.Float64bits(f))
		}
	case v.IsString():
		h.WriteByte('s')
		maphash.WriteComparable(h, len(v.AsString()))
		h.WriteString(v.AsString())
	case v.IsArray():
		h.WriteByte('[')
		for _, e := range v.AsArray().All() {
			hashValue(h, e)
		}
		h.WriteByte(']')
	case v.IsMap():
		h.WriteByte('{')
		for name, e := range v.AsMap().All() {
			if !e.IsNull() { // which equals none
				h.WriteString(name)
				hashValue(h, e)
			}
		}
		h.WriteByte('}')
	case v.IsReference():
		h.WriteString("r" + string(v.AsReference().URN))
	case v.IsAsset():
		h.WriteString("a" + v.AsAsset().Hash)
	case v.IsArchive():
		h.WriteString("z" + v.AsArchive().Hash)
	default:
		h.WriteByte('0')
	}
}
