package comparison

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
)

// Difference is a difference between two values at one path.
type Difference struct {
	// Old and New are the path in each of the values. They differ if the index of an array item has changed; one is nil if the item was added or
	// removed.
	Old, New property.Path
	// Format is that of the document in the text at Old and New, "" if there is no document. Within is the path in the document.
	Format string
	Within property.Path
	// Was and Is are the values, null for a missing one.
	Was, Is property.Value
}

// Differences returns the differences between two values at a path, in the order of the new value. A value for which isWhole returns true, or whose
// kind has changed, is one difference. A different order of items, or another format of a document, is none. If there are more than most differences,
// it returns false.
func Differences(at property.Path, old, new property.Value, most int, isWhole func(property.Value) bool) ([]Difference, bool) {
	f := finder{most: most, isWhole: isWhole}
	f.compare(Difference{Old: at, New: at, Was: old, Is: new})
	return f.found, len(f.found) <= most
}

type finder struct {
	most    int
	isWhole func(property.Value) bool
	found   []Difference
}

// Path returns the path in the new value or, if it is not in that, in the old one.
func (d Difference) Path() property.Path {
	if d.New == nil {
		return d.Old
	}
	return d.New
}

// inside returns a difference inside d.
func (d Difference) inside(old, new property.Element, was, is property.Value) Difference {
	d.Was, d.Is = was, is
	if d.Format != "" {
		d.Within = d.Within.With(new) // a removed item has its old index
		return d
	}
	d.Old, d.New = d.Old.With(old), d.New.With(new)
	return d
}

func (f *finder) compare(d Difference) {
	if len(f.found) > f.most || f.equal(d) {
		return
	}
	if f.isWhole(d.Was) || f.isWhole(d.Is) {
		f.found = append(f.found, d)
		return
	}
	was, _ := d.Was.Unwrap()
	is, _ := d.Is.Unwrap()
	switch {
	case was.IsMap() && is.IsMap():
		f.maps(d, was.AsMap(), is.AsMap())
	case was.IsArray() && is.IsArray():
		f.arrays(d, was.AsArray(), is.AsArray())
	case was.IsString() && is.IsString() && d.Format == "" && f.documents(d, was.AsString(), is.AsString()):
	default:
		f.found = append(f.found, d)
	}
}

// equal compares the contents of documents exactly: in them, null is a value.
func (f *finder) equal(d Difference) bool {
	if d.Format != "" {
		return property.Identical(d.Was, d.Is)
	}
	return property.Equal(d.Was, d.Is)
}

func (f *finder) maps(d Difference, old, new property.Map) {
	names := slices.Concat(old.Names(), new.Names())
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := property.Key(name)
		f.compare(d.inside(at, at, old.At(name), new.At(name)))
	}
}

func (f *finder) arrays(d Difference, old, new property.Array) {
	items, _ := Items(old, new)
	for _, i := range items {
		switch {
		case i.Old == Nowhere:
			came := d.inside(property.Index(i.New), property.Index(i.New), property.Null, new.At(i.New))
			if d.Format == "" {
				came.Old = nil
			}
			f.compare(came)
		case i.New == Nowhere:
			gone := d.inside(property.Index(i.Old), property.Index(i.Old), old.At(i.Old), property.Null)
			if d.Format == "" {
				gone.New = nil
			}
			f.compare(gone)
		default:
			f.compare(d.inside(property.Index(i.Old), property.Index(i.New), old.At(i.Old), new.At(i.New)))
		}
	}
}

// documents compares two texts by value. It reports false if they do not hold documents of one kind.
func (f *finder) documents(d Difference, old, new string) bool {
	was, ok := DocumentIn(old)
	if !ok {
		return false
	}
	is, ok := DocumentIn(new)
	if !ok || was.Format != is.Format || was.Value.IsMap() != is.Value.IsMap() {
		return false
	}
	d.Format, d.Was, d.Is = is.Format, was.Value, is.Value
	f.compare(d)
	return true
}
