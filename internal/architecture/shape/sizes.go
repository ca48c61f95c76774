package shape

import (
	"cmp"
	"slices"
)

// The measures.
const (
	Knot    = "files that need each other"
	Methods = "methods"
	Fields  = "fields"
	Bools   = "bools"
	Files   = "code files"
	Names   = "exported names"
)

// The limits. The limit of a knot is a share of the package's files, but small knots are allowed everywhere.
const (
	smallKnot   = 8
	knotShare   = 4
	methodLimit = 40
	fieldLimit  = 25
	boolLimit   = 6
	fileLimit   = 15 // of the root package
	nameLimit   = 80 // of the root package
)

// optionsName is the name of structs that may have any number of fields: their fields are independent settings.
const optionsName = "Options"

// Size is one measure and its limit.
type Size struct {
	What  string // one of the constants
	Where string // a package, or a type after its package and a dot
	Size  int
	Limit int
}

// Above reports whether the size is above its limit.
func (s Size) Above() bool { return s.Size > s.Limit }

// Share returns the size as a part of the limit.
func (s Size) Share() float64 { return float64(s.Size) / float64(s.Limit) }

// Sizes returns all measures that have a limit, the worst first.
func Sizes(packages []Package) []Size {
	var list []Size
	for _, p := range packages {
		list = append(list, Size{Knot, p.Path, len(p.Knot()), p.KnotLimit()})
		for _, t := range p.Types {
			list = append(list, t.sizes(p.Path)...)
		}
		if p.Path == "." {
			list = append(list, Size{Files, p.Path, len(p.Files), fileLimit}, Size{Names, p.Path, len(p.Exported), nameLimit})
		}
	}
	slices.SortStableFunc(list, func(a, b Size) int {
		return cmp.Or(cmp.Compare(b.Share(), a.Share()), cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return list
}

func (t Type) sizes(path string) []Size {
	where := path + "." + t.Name
	if path == "." {
		where = t.Name
	}
	sizes := []Size{{Methods, where, t.Methods, methodLimit}}
	if t.Name != optionsName && !t.Wire {
		sizes = append(sizes, Size{Fields, where, t.Fields, fieldLimit}, Size{Bools, where, t.Bools, boolLimit})
	}
	return sizes
}
