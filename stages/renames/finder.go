package renames

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// candidate is a resource that is to be deleted, or one that is to be created.
type candidate struct {
	*state.Resource
	children []*candidate // of a component, in the order of their names: those to be deleted or created with it
}

// finder pairs deletes with creates.
type finder struct {
	deletes, creates map[urn.URN]*candidate
	paired           map[urn.URN]urn.URN // former name to new name, also of resources that continue by an alias of the program
	former           map[urn.URN]urn.URN // new name to former name
	left             int                 // the number of pairs that may still be compared
	ofType           map[urn.Type]ofType
	possible         map[urn.URN]bool // former names of pairs that are less alike
}

// ofType counts the deletes and creates of a type.
type ofType struct{ deletes, creates int }

func newFinder(steps iter.Seq[*stages.StepInfo]) *finder {
	f := &finder{
		deletes: map[urn.URN]*candidate{}, creates: map[urn.URN]*candidate{}, paired: map[urn.URN]urn.URN{}, former: map[urn.URN]urn.URN{},
		left: maxPairs, ofType: map[urn.Type]ofType{}, possible: map[urn.URN]bool{},
	}
	for s := range steps {
		f.countType(s)
		switch {
		case s.Internal:
		case s.Op == stages.OpDelete && s.Reason.Kind == stages.ReasonNotInProgram && mayHaveAnotherName(s.Old):
			f.deletes[s.URN] = &candidate{Resource: s.Old}
		case s.Op == stages.OpCreate && s.Reason.Kind == stages.ReasonNew && s.New != nil && s.New.ViewOf == "":
			f.creates[s.URN] = &candidate{Resource: s.New}
		case s.Old != nil && s.New != nil && s.Old.URN != s.New.URN:
			f.paired[s.Old.URN], f.former[s.New.URN] = s.New.URN, s.Old.URN
		}
	}
	for _, all := range []map[urn.URN]*candidate{f.deletes, f.creates} {
		for _, u := range slices.Sorted(maps.Keys(all)) {
			if parent := all[all[u].Parent]; parent != nil && !parent.Custom {
				parent.children = append(parent.children, all[u])
			}
		}
	}
	return f
}

func (f *finder) countType(s *stages.StepInfo) {
	n := f.ofType[s.URN.Type()]
	switch s.Op {
	case stages.OpDelete:
		n.deletes++
	case stages.OpCreate:
		n.creates++
	}
	f.ofType[s.URN.Type()] = n
}

// mayHaveAnotherName reports whether a recorded resource could continue under another name.
func mayHaveAnotherName(r *state.Resource) bool {
	return r != nil && !r.Protect && !r.Delete && !r.External && !r.PendingReplacement && r.ViewOf == "" && r.Type != urn.RootStackType
}

// findComponents pairs components, from the outermost to the innermost: the contents of a component move with it.
func (f *finder) findComponents() {
	isComponent := func(c *candidate) bool { return !c.Custom }
	level := f.unpaired(f.deletes, func(c *candidate) bool { return isComponent(c) && f.deletes[c.Parent] == nil })
	for len(level) > 0 {
		f.match(level, f.unpaired(f.creates, isComponent))
		var next []*candidate
		for _, c := range level {
			for _, child := range c.children {
				if isComponent(child) {
					next = append(next, child)
				}
			}
		}
		level = next
	}
}

// customs returns the resources other than components that are to be deleted and created.
func (f *finder) customs() (deletes, creates []*candidate) {
	isCustom := func(c *candidate) bool { return c.Custom }
	return f.unpaired(f.deletes, isCustom), f.unpaired(f.creates, isCustom)
}

// unpaired returns those of the candidates that have no pair, in the order of their names.
func (f *finder) unpaired(all map[urn.URN]*candidate, is func(*candidate) bool) []*candidate {
	var out []*candidate
	for _, u := range slices.Sorted(maps.Keys(all)) {
		if c := all[u]; is(c) && f.isFree(c) {
			out = append(out, c)
		}
	}
	return out
}

func (f *finder) isFree(c *candidate) bool {
	_, gone := f.paired[c.URN]
	_, come := f.former[c.URN]
	return !gone && !come
}

func (f *finder) pair(d, c *candidate) { f.paired[d.URN], f.former[c.URN] = c.URN, d.URN }

// match pairs deletes with creates of the same type: first those of one name, which were moved, then those of one parent, which
// were renamed. It also pairs components with one name and parent whose type has changed.
func (f *finder) match(deletes, creates []*candidate) {
	for _, keys := range []func(c *candidate, parent string) (key string, ok bool){
		func(c *candidate, _ string) (string, bool) { return string(c.Type) + " " + c.URN.Name(), true },
		func(c *candidate, parent string) (string, bool) { return string(c.Type) + " " + parent, true },
		func(c *candidate, parent string) (string, bool) { return c.URN.Name() + " " + parent, !c.Custom },
	} {
		buckets := map[string]*bucket{}
		add := func(list []*candidate, place func(*candidate) string, put func(*bucket, *candidate)) {
			for _, c := range list {
				key, ok := keys(c, place(c))
				if !ok || !f.isFree(c) {
					continue
				}
				if buckets[key] == nil {
					buckets[key] = &bucket{}
				}
				put(buckets[key], c)
			}
		}
		add(deletes, f.oldPlace, func(b *bucket, c *candidate) { b.deletes = append(b.deletes, c) })
		add(creates, f.newPlace, func(b *bucket, c *candidate) { b.creates = append(b.creates, c) })
		for _, key := range slices.Sorted(maps.Keys(buckets)) {
			f.matchBucket(buckets[key])
		}
	}
}

// matchOnly pairs the only delete and the only create of a type if they are in one place or have one name, and are sufficiently
// alike. There is no other pair for either, so less likeness is enough.
func (f *finder) matchOnly(deletes, creates []*candidate) {
	isOnly := func(c *candidate) bool { return f.ofType[c.URN.Type()] == ofType{1, 1} }
	created := map[urn.Type]*candidate{}
	for _, c := range creates {
		if isOnly(c) {
			created[c.URN.Type()] = c
		}
	}
	for _, d := range deletes {
		c := created[d.URN.Type()]
		if c == nil || !isOnly(d) || !f.fits(d, c) || d.URN.Name() != c.URN.Name() && f.oldPlace(d) != f.newPlace(c) {
			continue
		}
		if isLikely(d, c) {
			f.pair(d, c)
			f.possible[d.URN] = true
		}
	}
}

// oldPlace names the parent of a deleted resource, so that the name equals that of the parent of its possible successor: the parent
// itself if it stays, its pair if it has one, or its type.
func (f *finder) oldPlace(c *candidate) string {
	if to, ok := f.paired[c.Parent]; ok {
		return string(to)
	}
	if f.deletes[c.Parent] != nil {
		return "a " + string(c.Parent.QualifiedType())
	}
	return string(c.Parent)
}

// newPlace is oldPlace for a created resource.
func (f *finder) newPlace(c *candidate) string {
	if _, ok := f.former[c.Parent]; !ok && f.creates[c.Parent] != nil {
		return "a " + string(c.Parent.QualifiedType())
	}
	return string(c.Parent)
}

// fits reports whether the parents of a delete and a create allow that both are one resource.
func (f *finder) fits(d, c *candidate) bool {
	to, gone := f.paired[d.Parent]
	from, come := f.former[c.Parent]
	return (!gone || to == c.Parent) && (!come || from == d.Parent)
}

// bucket holds deletes and creates that could be the same resources.
type bucket struct{ deletes, creates []*candidate }

// Limits on how many pairs are compared, so that the time for all of them stays in proportion.
const (
	maxPairs       = 20_000
	maxBucketPairs = 2_500
)

// matchBucket pairs equal inputs first. The others are compared if there are not too many pairs.
func (f *finder) matchBucket(b *bucket) {
	if len(b.deletes) == 0 || len(b.creates) == 0 {
		return
	}
	f.matchEqual(b)
	pairs := len(b.deletes) * len(b.creates)
	if pairs > min(f.left, maxBucketPairs) {
		return
	}
	f.left -= pairs
	byDelete, byCreate := map[*candidate]*rival{}, map[*candidate]*rival{}
	for _, d := range b.deletes {
		for _, c := range b.creates {
			if !f.fits(d, c) {
				continue
			}
			if l, near := likenessOf(d, c); near {
				consider(byDelete, d, c, l)
				consider(byCreate, c, d, l)
			}
		}
	}
	for _, d := range b.deletes {
		r := byDelete[d]
		if r == nil || r.tied || byCreate[r.best].tied || byCreate[r.best].best != d {
			continue
		}
		f.pair(d, r.best)
	}
}

// rival is the candidate that is most like another one.
type rival struct {
	best *candidate
	likeness
	tied bool // another one is equally alike
}

func consider(all map[*candidate]*rival, of, other *candidate, l likeness) {
	r := all[of]
	switch {
	case r == nil || l.compare(r.likeness) > 0:
		all[of] = &rival{best: other, likeness: l}
	case l.compare(r.likeness) == 0:
		r.tied = true
	}
}

// matchEqual pairs resources with equal inputs if there is one delete and one create of them, and leaves the others.
func (f *finder) matchEqual(b *bucket) {
	groups := map[[32]byte]*bucket{}
	of := func(c *candidate) *bucket {
		print, ok := fingerprint(c)
		if !ok {
			return &bucket{}
		}
		if groups[print] == nil {
			groups[print] = &bucket{}
		}
		return groups[print]
	}
	for _, d := range b.deletes {
		g := of(d)
		g.deletes = append(g.deletes, d)
	}
	for _, c := range b.creates {
		g := of(c)
		g.creates = append(g.creates, c)
	}
	for _, g := range groups { // no resource is in two of them
		if len(g.deletes) == 1 && len(g.creates) == 1 && f.fits(g.deletes[0], g.creates[0]) {
			f.pair(g.deletes[0], g.creates[0])
		}
	}
	isPaired := func(c *candidate) bool { return !f.isFree(c) }
	b.deletes = slices.DeleteFunc(b.deletes, isPaired)
	b.creates = slices.DeleteFunc(b.creates, isPaired)
}

// rename describes a pair by the alias that it needs.
func (f *finder) rename(d, c *candidate) Rename {
	r := Rename{From: d.URN, To: c.URN, Possible: f.possible[d.URN]}
	subject := urn.Subject{Stack: c.URN.Stack(), Project: c.URN.Project(), Type: c.URN.Type(), Name: c.URN.Name(), Parent: c.Parent}
	former := func(u urn.URN) (urn.URN, bool) {
		old, ok := f.former[u]
		return old, ok
	}
	reaches := func(as ...urn.Alias) bool { return slices.Contains(urn.ExpandAliases(subject, as, former), d.URN) }
	switch {
	case reaches():
		r.With = c.Parent
	case reaches(urn.Alias{Name: d.URN.Name()}):
		r.Name = d.URN.Name()
	}
	return r
}

// likeness measures how much two resources are alike: in their inputs, and, if these are equally alike, in their names.
type likeness struct{ inputs, names float64 }

func (l likeness) compare(other likeness) int {
	return cmp.Or(cmp.Compare(l.inputs, other.inputs), cmp.Compare(l.names, other.names))
}
