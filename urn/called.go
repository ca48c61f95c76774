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

// IsCalled reports whether text is a usual name of the type: the type itself, its short form (see [Type.Short]), the type without
// the module "index", or the last part alone.
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

// IsCalled reports whether text is a usual name of the resource: its URN, its name, or its type and name. The type may be in any form of
// [Type.IsCalled], with or without the types of its parents. Between type and name is "::" or a space, or the name is in parentheses.
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

// Called returns the URNs of a list that text names, each once, in the order of the list: the URN that equals text, else those with text
// as their name, else those for which [URN.IsCalled] holds.
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
