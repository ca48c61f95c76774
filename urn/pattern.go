package urn

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern selects URNs: it is one literal URN, another name of resources (see [URN.IsCalled]), or a glob ([steps.md 6.1]). In a glob "**" matches any
// text, and a single "*" any text without ":"; everything else matches itself, and the whole URN has to match. A glob without ":" and "**", which
// matches no URN, is one for names: the whole name has to match. The zero Pattern matches only the empty URN.
//
// [steps.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#61-sets
type Pattern struct {
	text string
	re   *regexp.Regexp // nil unless the pattern is a glob
	name bool           // the glob is one for names
}

// Compile makes a pattern. It refuses an empty pattern and text that is not UTF-8.
func Compile(pattern string) (Pattern, error) {
	if pattern == "" {
		return Pattern{}, fmt.Errorf("%w: empty pattern", ErrInvalid)
	}
	if !utf8.ValidString(pattern) {
		return Pattern{}, fmt.Errorf("%w: pattern %q is not UTF-8", ErrInvalid, pattern)
	}
	if !IsGlob(pattern) {
		return Pattern{text: pattern}, nil
	}
	expr := regexp.QuoteMeta(pattern)
	expr = strings.ReplaceAll(expr, `\*\*`, `.*`)
	expr = strings.ReplaceAll(expr, `\*`, `[^:]*`)
	re, err := regexp.Compile(`(?s)\A` + expr + `\z`)
	if err != nil {
		return Pattern{}, fmt.Errorf("%w: pattern %q: %w", ErrInvalid, pattern, err)
	}
	return Pattern{text: pattern, re: re, name: !strings.Contains(pattern, ":") && !strings.Contains(pattern, "**")}, nil
}

// IsGlob reports whether a pattern text contains a wildcard.
func IsGlob(pattern string) bool { return strings.Contains(pattern, "*") }

// IsGlob reports whether p contains a wildcard.
func (p Pattern) IsGlob() bool { return p.re != nil }

// IsName reports whether p is a name that is not a URN.
func (p Pattern) IsName() bool {
	return p.re == nil && p.text != "" && !strings.HasPrefix(p.text, "urn:")
}

// Match reports whether p selects u.
func (p Pattern) Match(u URN) bool {
	switch {
	case p.re != nil && p.name:
		return p.re.MatchString(u.Name())
	case p.re != nil:
		return p.re.MatchString(string(u))
	case p.IsName():
		return u.IsCalled(p.text)
	}
	return string(u) == p.text
}

// String returns the text that p was compiled from.
func (p Pattern) String() string { return p.text }

// PatternSet is a set of patterns in which the empty set means "no constraint" and contains every URN ([steps.md 6.1]).
// Literals cost one hash lookup; names and globs are tried one after the other. The zero value is unconstrained.
//
// A PatternSet may be read by many goroutines, as long as none calls [PatternSet.Add].
//
// [steps.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#61-sets
type PatternSet struct {
	literals map[URN]struct{}
	names    []Pattern
	globs    []Pattern
}

// CompileSet makes the set of the given patterns.
func CompileSet(patterns ...string) (*PatternSet, error) {
	s := &PatternSet{}
	for _, text := range patterns {
		p, err := Compile(text)
		if err != nil {
			return nil, err
		}
		switch {
		case p.IsGlob():
			s.globs = append(s.globs, p)
		case p.IsName():
			s.names = append(s.names, p)
		default:
			s.insert(URN(text))
		}
	}
	return s, nil
}

// IsConstrained reports whether the set excludes anything. A nil set does not.
func (s *PatternSet) IsConstrained() bool {
	return s != nil && (len(s.literals) > 0 || len(s.names) > 0 || len(s.globs) > 0)
}

// Contains reports whether some pattern selects u, or the set is unconstrained.
func (s *PatternSet) Contains(u URN) bool { return !s.IsConstrained() || s.Matches(u) }

// Matches reports whether some pattern selects u. Unlike [PatternSet.Contains] it is false for an empty set, which is
// what a list of exclusions needs.
func (s *PatternSet) Matches(u URN) bool {
	if s == nil {
		return false
	}
	if _, ok := s.literals[u]; ok {
		return true
	}
	matches := func(p Pattern) bool { return p.Match(u) }
	return slices.ContainsFunc(s.names, matches) || slices.ContainsFunc(s.globs, matches)
}

// Add adds a literal. It does nothing to an unconstrained set, which contains u already.
func (s *PatternSet) Add(u URN) {
	if s.IsConstrained() {
		s.insert(u)
	}
}

func (s *PatternSet) insert(u URN) {
	if s.literals == nil {
		s.literals = make(map[URN]struct{})
	}
	s.literals[u] = struct{}{}
}

// Clone returns a copy that can be added to independently.
func (s *PatternSet) Clone() *PatternSet {
	if s == nil {
		return &PatternSet{}
	}
	return &PatternSet{literals: maps.Clone(s.literals), names: slices.Clone(s.names), globs: slices.Clone(s.globs)}
}

// Literals yields the literal members in ascending byte order.
func (s *PatternSet) Literals() iter.Seq[URN] {
	return func(yield func(URN) bool) {
		if s == nil {
			return
		}
		for _, u := range slices.Sorted(maps.Keys(s.literals)) {
			if !yield(u) {
				return
			}
		}
	}
}

// Names yields the names that are not URNs, in the order in which they were given.
func (s *PatternSet) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		if s == nil {
			return
		}
		for _, p := range s.names {
			if !yield(p.text) {
				return
			}
		}
	}
}

// Bind returns the set in which each name that matches exactly one of the URNs is replaced by that URN, so that it selects nothing else.
// The first name that matches several is returned with those URNs. A name that matches none stays a name.
func (s *PatternSet) Bind(among []URN) (bound *PatternSet, name string, choices []URN) {
	if s == nil || len(s.names) == 0 {
		return s, "", nil
	}
	bound = s.Clone()
	bound.names = nil
	for _, p := range s.names {
		switch called := Called(among, p.text); len(called) {
		case 0:
			bound.names = append(bound.names, p)
		case 1:
			bound.insert(called[0])
		default:
			return nil, p.text, called
		}
	}
	return bound, "", nil
}
