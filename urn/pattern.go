package urn

import (
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Pattern selects URNs: it is either one literal URN or a glob (steps.md 6.1). In a glob "**" stands for any text, and
// a single "*" for any text without ":"; everything else stands for itself, and the whole URN has to match. The zero
// Pattern matches only the empty URN.
type Pattern struct {
	text string
	re   *regexp.Regexp // nil for a literal
}

// Compile makes a pattern. It refuses an empty pattern and text that is not UTF-8.
func Compile(pattern string) (Pattern, error) {
	if pattern == "" {
		return Pattern{}, fmt.Errorf("%w: empty pattern", ErrInvalid)
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
	return Pattern{text: pattern, re: re}, nil
}

// IsGlob reports whether a pattern text contains a wildcard.
func IsGlob(pattern string) bool { return strings.Contains(pattern, "*") }

// IsGlob reports whether p contains a wildcard.
func (p Pattern) IsGlob() bool { return p.re != nil }

// Match reports whether p selects u.
func (p Pattern) Match(u URN) bool {
	if p.re == nil {
		return string(u) == p.text
	}
	return p.re.MatchString(string(u))
}

// String returns the text that p was compiled from.
func (p Pattern) String() string { return p.text }

// PatternSet is a set of patterns in which the empty set means "no constraint" and contains every URN (steps.md 6.1).
// Literals cost one hash lookup; globs are tried one after the other. The zero value is unconstrained.
//
// A PatternSet may be read by many goroutines, as long as none calls [PatternSet.Add].
type PatternSet struct {
	literals map[URN]struct{}
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
		if p.IsGlob() {
			s.globs = append(s.globs, p)
			continue
		}
		s.insert(URN(text))
	}
	return s, nil
}

// IsConstrained reports whether the set excludes anything. A nil set does not.
func (s *PatternSet) IsConstrained() bool {
	return s != nil && (len(s.literals) > 0 || len(s.globs) > 0)
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
	return slices.ContainsFunc(s.globs, func(p Pattern) bool { return p.Match(u) })
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
	return &PatternSet{literals: maps.Clone(s.literals), globs: slices.Clone(s.globs)}
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
