package why

import (
	"encoding/json"

	"github.com/sluice-iac/sluice/property"
)

// A Viewer shows values as a [Log] has them, without secrets, to others who write values down.
type Viewer struct {
	// IsSensitive reports whether a text has something secret in it that nobody has marked; nil takes none to have.
	IsSensitive func(string) bool
	Texts       int // how many characters of one text are shown
	Elements    int // how many elements of arrays and objects, at all depths
}

func (v Viewer) inner() viewer { return viewer{v.IsSensitive, v.Texts, v.Elements} }

// Pair returns what may be shown of a place in two objects: JSON, nil if there is nothing. If the place is in both and something in one is
// secret, so is the other.
func (v Viewer) Pair(old, new property.Map, at property.Path) (was, is json.RawMessage) {
	_, had := old.Lookup(at)
	if _, has := new.Lookup(at); had && has {
		return v.inner().pairAt(old, new, at)
	}
	return v.inner().shownAt(old, at), v.inner().shownAt(new, at)
}

// Visible returns the beginning of a path, up to the first secret of an object on it: what lies within that is not named.
func (v Viewer) Visible(m property.Map, at property.Path) property.Path {
	for i := 1; i < len(at); i++ {
		if isSecretAt(m, at[:i]) {
			return at[:i]
		}
	}
	return at
}
