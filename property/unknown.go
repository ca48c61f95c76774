package property

import "slices"

// Unavailable returns a secret whose content is not available, such as an output of another stack that cannot be decrypted. It counts as
// unknown. why is a sentence without a full stop that says what the value is and how to get it.
func Unavailable(why string) Value { return sealedSecret(Computed(), &sealed{opaque: true, why: why}) }

func isUnavailable(v Value) bool {
	_, ok := v.IsUnavailable()
	return ok
}

// replacer returns the rewriter that tries f on a value, and goes into the value if f does not change it.
func replacer(f rewriter) rewriter {
	var all rewriter
	all = func(v Value) (Value, bool) {
		if n, changed := f(v); changed {
			return n, true
		}
		return rewriteChildren(v, all)
	}
	return all
}

func isNotKnown(v Value) bool {
	if s, ok := v.v.(*secret); ok {
		return s.isOpaque()
	}
	return isUnknown(v)
}

// find returns the first value inside v for which is returns true, and its path. It makes a path only for a value that it has found, since it
// finds none in nearly all calls.
func find(v Value, is func(Value) bool) (at Path, found Value, ok bool) {
	if is(v) {
		return nil, v, true
	}
	switch x := v.v.(type) {
	case Array:
		for i, e := range x.a {
			if at, found, ok := find(e, is); ok {
				return slices.Insert(at, 0, Index(i)), found, true
			}
		}
	case Map:
		for _, e := range x.members() {
			if at, found, ok := find(e.value, is); ok {
				return slices.Insert(at, 0, Key(e.name)), found, true
			}
		}
	case Archive:
		return find(Value{x.Members}, is)
	case *secret:
		if !x.isOpaque() {
			return find(x.element, is)
		}
	case *Output:
		if x.Known {
			return find(x.Element, is)
		}
	}
	return nil, Null, false
}
