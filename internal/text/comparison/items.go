package comparison

import (
	"hash/maphash"
	"math"
	"strconv"

	"github.com/sluice-iac/sluice/internal/text/align"
	"github.com/sluice-iac/sluice/property"
)

// Nowhere is the index of an item in the array that does not have it.
const Nowhere = -1

// Item is an item of two arrays: its index in the old one and in the new one.
type Item struct {
	Old, New int
	Moved    bool // its order relative to other items has changed
}

// itemKeys are the properties by which items of a list can be matched, the best one first.
var itemKeys = [...]string{"name", "Name", "id", "Id", "ID", "key", "Key", "sid", "Sid"}

// Items matches the items of two arrays, and returns them in the order of the new array, with the removed ones in their old places. If all items
// have a name, an ID or a key, it matches by that. Otherwise it matches equal items, and between these, items at the same place that are similar
// enough. key is the property used for matching, "" if there is none.
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

// moves are the items of both arrays whose order relative to others has changed.
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

// between adds the items between two kept ones: after from, and before to.
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
	next := 0 // removed items before the first replaced one come before added ones
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

// maxComparisons is the maximal number of pairs of items that are compared at one place to find the most similar ones.
const maxComparisons = 256

// alike pairs removed items with added ones, in order, with the highest total likeness. It returns the old index of each added item.
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
	// best[i][j] is the total likeness of the best pairs among gone[i:] and came[j:].
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

// likeness returns how similar two items are; 0 means that one is better shown as removed and the other as added. Objects with different keys must
// agree in half of the rest.
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

// keysOf returns a property that identifies all items of two arrays, and its values.
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

// keyValues returns the values of a property. It reports false if an item lacks it, two are equal, or one is secret or unknown.
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

// interner numbers values: equal ones have the same number, even if only one is secret.
type interner struct {
	of   map[uint64][]numbered // by hash
	seed maphash.Seed
	next int
}

type numbered struct {
	value  property.Value
	number string
}

// maxSameHash is the number of distinct values stored for one hash. Any further ones count as different, even if they are equal.
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

// hashValue adds a value to a hash. Values that [property.Equal] considers equal have the same hash. Assets and other values that are rare in long
// arrays have few different hashes.
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
			if !e.IsNull() { // which equals a missing property
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
