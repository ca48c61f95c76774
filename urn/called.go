package urn

import (
	"slices"
	"strings"
)

// Short returns a type as displays show it: without the end of its module if that repeats the name, so that "aws:s3/bucket:Bucket" is
// "aws:s3:Bucket".
func (t Type) Short() string {
	parts := strings.Split(string(t), ":")
	if len(parts) == 3 {
		if module, tail, ok := strings.Cut(parts[1], "/"); ok && strings.EqualFold(tail, parts[2]) {
			parts[1] = module
		}
	}
	return strings.Join(parts, ":")
}

// IsCalled reports whether text is a name that people give the type: the type itself, the one that displays show, that without the
// module "index", or the last part alone.
func (t Type) IsCalled(text string) bool {
	if text == "" {
		return false
	}
	short := t.Short()
	if text == string(t) || text == short {
		return true
	}
	parts := strings.Split(short, ":")
	if len(parts) != 3 {
		return false
	}
	return parts[1] == "index" && text == parts[0]+":"+parts[2] || text == parts[2]
}

// IsCalled reports whether text is a name that people give the resource: its URN; its name; or its type, in any of the forms of
// [Type.IsCalled] and perhaps with the types of its parents, and its name, with "::" or a space between them or the name in parentheses.
func (u URN) IsCalled(text string) bool {
	name := u.Name()
	if text == string(u) || text == name {
		return true
	}
	for _, form := range []struct{ before, after string }{{"::", ""}, {" ", ""}, {" (", ")"}} {
		typ, ok := strings.CutSuffix(text, form.before+name+form.after)
		if !ok || typ == "" {
			continue
		}
		qualified := u.QualifiedType()
		if u.Type().IsCalled(typ) || string(qualified) == typ || strings.HasSuffix(string(qualified), "$"+typ) {
			return true
		}
	}
	return false
}

// Called returns the URNs of a list that text names, each once, in the order of the list: the one that it is, else those with that name,
// else those that are called so in any other way.
func Called(list []URN, text string) []URN {
	var named, called []URN
	for _, u := range list {
		switch {
		case string(u) == text:
			return []URN{u}
		case u.Name() == text && !slices.Contains(named, u):
			named = append(named, u)
		case u.IsCalled(text) && !slices.Contains(called, u):
			called = append(called, u)
		}
	}
	if named != nil {
		return named
	}
	return called
}
