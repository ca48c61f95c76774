package comparison

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
)

// Difference is one place at which two values differ.
type Difference struct {
	// Old and New are where it is in each of them. They differ if an item of an array has another index; one is nil for an item that came or
	// is gone.
	Old, New property.Path
	// Format is that of the document in the text at Old and New, "" if the place is in none. Within is the place in the document.
	Format string
	Within property.Path
	// Was and Is are the values, null for none.
	Was, Is property.Value
}

// Differences returns the places at which the values at a path differ, in the order of the new ones. What isWhole holds for is one
// place, whatever is in it; so is a value of another kind than before. There are none if only the order of items differs, or the form of documents. If
// there are more than most, it returns false.
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

// Path returns where the place is, in the new value if it is there.
func (d Difference) Path() property.Path {
	if d.New == nil {
		return d.Old
	}
	return d.New
}

// inside returns the place of something within d.
func (d Difference) inside(old, new property.Element, was, is property.Value) Difference {
	d.Was, d.Is = was, is
	if d.Format != "" {
		d.Within = d.Within.With(new) // what is gone has the index that it had
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

// equal compares what is in documents exactly: null is a value there.
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

// documents compares two texts by value, and reports false if they do not hold documents of one kind.
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
