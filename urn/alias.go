package urn

import "strings"

// Alias names a URN that a resource may have had before: either a whole URN, or a specification whose empty fields
// mean "the same as now" ([steps.md 2.3]).
//
// [steps.md 2.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#23-the-list-of-aliases
type Alias struct {
	URN      URN
	Name     string
	Type     Type
	Stack    string
	Project  string
	Parent   URN
	NoParent bool
}

// Subject is the resource whose aliases are expanded, with its present name. Parent is "" for a resource
// without one.
type Subject struct {
	Stack, Project string
	Type           Type
	Name           string
	Parent         URN
}

// URN returns the name that the subject has now.
func (s Subject) URN() URN {
	return New(s.Stack, s.Project, s.Parent.QualifiedType(), s.Type, s.Name)
}

// ExpandAliases returns the URNs under which the recorded state of s may be found, in the order in which they are to
// be tried and without repetition ([steps.md 2.3]). The subject's own URN is tried before this list and is in it only
// if an alias names it.
//
// matchedAlias returns the old URN that an earlier resource of this run took its state from. Only that alias of a
// parent is inherited, never the others that the parent listed. matchedAlias may be nil when nothing matched yet.
//
// [steps.md 2.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#23-the-list-of-aliases
func ExpandAliases(s Subject, aliases []Alias, matchedAlias func(URN) (URN, bool)) []URN {
	if matchedAlias == nil {
		matchedAlias = func(URN) (URN, bool) { return "", false }
	}
	var list []URN
	seen := make(map[URN]struct{}, 2*len(aliases)+1)
	add := func(u URN) {
		if _, dup := seen[u]; !dup {
			seen[u] = struct{}{}
			list = append(list, u)
		}
	}

	for _, a := range aliases {
		add(s.resolve(a, matchedAlias))
	}
	if s.Parent == "" {
		return list
	}
	oldParent, renamed := matchedAlias(s.Parent)
	if !renamed {
		return list
	}
	add(s.inherit(s.Type, s.Name, oldParent))
	for _, a := range aliases {
		u := s.resolve(a, matchedAlias)
		add(s.inherit(u.Type(), u.Name(), oldParent))
	}
	return list
}

// resolve fills the empty fields of an alias from the subject.
func (s Subject) resolve(a Alias, matchedAlias func(URN) (URN, bool)) URN {
	if a.URN != "" {
		return a.URN
	}
	parent := s.Parent
	if a.Parent != "" {
		parent = a.Parent
		if old, renamed := matchedAlias(parent); renamed {
			parent = old
		}
	}
	if a.NoParent {
		parent = ""
	}
	return New(or(a.Stack, s.Stack), or(a.Project, s.Project), parent.QualifiedType(), or(a.Type, s.Type), or(a.Name, s.Name))
}

// inherit names the resource as a child of its parent's old URN. SDKs build the names of children from their parent's
// name, so a name that begins with the parent's new name begins with the old one there.
func (s Subject) inherit(typ Type, name string, oldParent URN) URN {
	if rest, isPrefix := strings.CutPrefix(name, s.Parent.Name()); isPrefix {
		name = oldParent.Name() + rest
	}
	return New(s.Stack, s.Project, oldParent.QualifiedType(), typ, name)
}

func or[S ~string](s, otherwise S) S {
	if s != "" {
		return s
	}
	return otherwise
}
