package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/urn"
)

// Find returns the resource that text names: every copy of the resource with that URN, or of the only one with that other name
// (see [urn.Called]). Errors are an [*UnknownResourceError], an [*AmbiguousNameError], or wrap [urn.ErrInvalid]. A nil snapshot
// has no resources.
func Find(s *Snapshot, text string) ([]*Resource, error) {
	if s == nil {
		s = &Snapshot{}
	}
	if strings.HasPrefix(text, "urn:") {
		if _, err := urn.Parse(text); err != nil {
			return nil, err
		}
		return copiesOf(s, text, urn.URN(text))
	}
	named := urn.Called(URNs(s.Resources), text)
	switch len(named) {
	case 0:
		return nil, NewUnknownResourceError(s.Resources, text)
	case 1:
		return copiesOf(s, text, named[0])
	}
	return nil, &AmbiguousNameError{Name: text, URNs: named}
}

func copiesOf(s *Snapshot, text string, u urn.URN) ([]*Resource, error) {
	var found []*Resource
	for _, r := range s.Resources {
		if r.URN == u {
			found = append(found, r)
		}
	}
	if found == nil {
		return nil, NewUnknownResourceError(s.Resources, text)
	}
	return found, nil
}

// FindLive is [Find] for edits of the live copy only: an old copy that awaits its deletion does not count.
func FindLive(s *Snapshot, text string) (*Resource, error) {
	found, err := Find(s, text)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		if !r.Delete {
			return r, nil
		}
	}
	return nil, &UnknownResourceError{Text: text, OnlyOld: true}
}

// FindOne is [Find] for edits of one entry: several copies are a [*CopiesError].
func FindOne(s *Snapshot, text string) (*Resource, error) {
	found, err := Find(s, text)
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, &CopiesError{found}
	}
	return found[0], nil
}

// Live returns the live resources of s, in order. A nil snapshot has none.
func Live(s *Snapshot) []*Resource {
	if s == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Resources), func(r *Resource) bool { return r.Delete })
}

// UnknownResourceError reports that the state has no resource of that URN or name.
type UnknownResourceError struct {
	Text    string
	Near    []urn.URN // likely intended names, the nearest first
	OnlyOld bool      // there are copies that await their deletion, and no live one
	// Expanded is true if Text is what a shell makes of a URN in the state: it replaces a $ and the name after it.
	Expanded bool
}

// NewUnknownResourceError returns the error for a text that names none of the resources.
func NewUnknownResourceError(rs []*Resource, text string) *UnknownResourceError {
	return &UnknownResourceError{Text: text, Near: Near(rs, text), Expanded: slices.ContainsFunc(rs, func(r *Resource) bool {
		before, _, has := strings.Cut(string(r.URN), "$")
		after, begins := strings.CutPrefix(text, before)
		return has && begins && !strings.HasPrefix(after, "$")
	})}
}

func (e *UnknownResourceError) Error() string {
	if e.OnlyOld {
		return fmt.Sprintf("resource %s is not live: all that is left of it awaits its deletion by the next update", e.Text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the state has no resource %s", e.Text)
	if len(e.Near) > 0 {
		b.WriteString("; did you mean")
		for _, u := range e.Near {
			fmt.Fprintf(&b, "\n  %s", u)
		}
	}
	if e.Expanded {
		b.WriteString("\na URN that has a $ in it must be in single quotes, or the shell replaces what follows the $")
	}
	return b.String()
}

// Advice suggests listing the resources.
func (e *UnknownResourceError) Advice() []advice.Advice {
	if e.OnlyOld {
		return nil
	}
	return []advice.Advice{advice.On(advice.ListResources)}
}

// AmbiguousNameError reports that several resources have the given name.
type AmbiguousNameError struct {
	Name string
	URNs []urn.URN
}

func (e *AmbiguousNameError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d resources are called %s; write the URN of the one that you mean", len(e.URNs), e.Name)
	for _, u := range e.URNs {
		fmt.Fprintf(&b, "\n  %s", u)
	}
	return b.String()
}

// CopiesError reports that a URN has several entries although one is needed.
type CopiesError struct{ Copies []*Resource }

func (e *CopiesError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the state has %d copies of %s", len(e.Copies), e.Copies[0].URN)
	for _, r := range e.Copies {
		fmt.Fprintf(&b, "\n  %s", DescribeCopy(r))
	}
	return b.String()
}

// DescribeCopy describes a copy of a resource, to distinguish it from the others with the same URN.
func DescribeCopy(r *Resource) string {
	text := "ID " + r.ID
	if r.ID == "" {
		text = "no ID"
	}
	switch {
	case r.Delete:
		text += ", awaits deletion"
	case r.PendingReplacement:
		text += ", deleted and not replaced yet"
	}
	if r.Protect {
		text += ", protected"
	}
	return text
}

// nearest is the number of suggestions in an error.
const nearest = 3

// URNs returns the URNs of resources, in their order.
func URNs(rs []*Resource) []urn.URN {
	out := make([]urn.URN, len(rs))
	for i, r := range rs {
		out[i] = r.URN
	}
	return out
}

// Near returns the URNs of the resources most similar to text, a URN or another name of a resource, the nearest first.
func Near(rs []*Resource, text string) []urn.URN { return NearURNs(URNs(rs), text) }

// NearURNs is [Near] for a list of URNs.
func NearURNs(list []urn.URN, text string) []urn.URN {
	type candidate struct {
		urn      urn.URN
		distance int
	}
	name := text // for the comparison with names
	if i := strings.LastIndex(text, "::"); i >= 0 {
		name = text[i+len("::"):]
	}
	most := max(2, len(name)/4) // of a URN too: the URNs of a stack are alike
	whole := strings.HasPrefix(text, "urn:")
	if whole {
		name = text
	}
	folded := strings.ToLower(name)
	letters := lettersOf(folded)
	var found []candidate
	seen := make(map[urn.URN]bool, len(list))
	for _, u := range list {
		if seen[u] {
			continue
		}
		seen[u] = true
		other := u.Name()
		if whole {
			other = string(u)
		}
		other = strings.ToLower(other)
		d := levenshtein.Distance(folded, other, nil) // with a MaxCost it returns distances that are too small
		if !whole && len(name) > 2 && strings.Contains(other, folded) {
			d = min(d, 1) // a part of the name
		}
		if whole && strings.HasSuffix(text, "::"+u.Name()) {
			d = min(d, most) // another type or parent
		}
		if len(folded) == len(other) && letters == lettersOf(other) {
			d = min(d, 1) // letters have changed places
		}
		if d <= min(most, (max(len(name), len(other))+1)/3) { // two names are not similar because both are short
			found = append(found, candidate{u, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var out []urn.URN
	for _, c := range found[:min(nearest, len(found))] {
		if c.distance > 2*found[0].distance {
			break // beside a closer one it is hardly the intended one
		}
		out = append(out, c.urn)
	}
	return out
}

// lettersOf returns the characters of a text in ascending order.
func lettersOf(text string) string {
	runes := []rune(text)
	slices.Sort(runes)
	return string(runes)
}
