package architecture

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// citation is a citation of one rule in a text.
type citation struct {
	page          string
	section, item string
	label, name   string
	text          string // as written, up to the part that was parsed
	line          int
}

// String returns the citation in its full form.
func (c citation) String() string {
	parts := []string{c.page}
	if c.section != "" {
		parts = append(parts, c.section)
	}
	if c.item != "" {
		parts = append(parts, "item", c.item)
	}
	if c.label != "" {
		parts = append(parts, c.label)
	}
	if c.name != "" {
		parts = append(parts, strconv.Quote(c.name))
	}
	return strings.Join(parts, " ")
}

var (
	// A page is cited by its bare name: the name in a path or a link is no citation.
	pageName = regexp.MustCompile(`(?:^|[^\w/.\]-])(steps|state|protocol)\.md\b`)
	aLink    = regexp.MustCompile("^[])`#]")
	// The separators between citations of one page.
	separator = regexp.MustCompile(`^(?:, and |,? and |,? to |, |: ?|; )`)
	aSection  = regexp.MustCompile(`^(?:sections? |appendix )?((?:[A-Z]\.)?\d+(?:\.\d+)*|[A-Z])\b`)
	aLabel    = regexp.MustCompile(`^([A-Z]+-\d+)\b`)
	someItems = regexp.MustCompile(`^,? ?(?:items?|rules?|steps?|points?|rows?) (\d+)((?: (?:and|to) \d+)*)`)
	aName     = regexp.MustCompile(`^,? "([^"]+)"`)
	number    = regexp.MustCompile(`\d+`)
	// Labels that are unique without a page.
	bareLabel = regexp.MustCompile(`\b(ORD|R|I|C)-\d+\b`)
	// Numbers of sections in the same page of rules.
	ownSection = regexp.MustCompile(`(?:^|[^\w.-])(\d+\.\d+)\b`)
	notText    = regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`]*`|\\]\\([^)]*\\)|(?m)^#+ [^\n]*")
)

// pageOf returns the name of a page of rules, "" for every other file.
func pageOf(file string) string {
	if path.Dir(file) == spec {
		return path.Base(file)
	}
	return ""
}

// citationsIn finds the citations in a text. In a page of rules, own, bare numbers cite sections of that page.
func citationsIn(p passage, own string) []citation {
	text := p.text
	if own != "" {
		text = notText.ReplaceAllStringFunc(text, func(s string) string {
			if strings.HasPrefix(s, "](") {
				return "]" + blank(s[1:])
			}
			return blank(s)
		})
	}
	var out []citation
	note := func(from, to int, c citation) {
		c.text = strings.Join(strings.Fields(text[from:to]), " ")
		c.line = p.line + strings.Count(text[:from], "\n")
		out = append(out, c)
	}
	known := []byte(text)
	for _, m := range pageName.FindAllStringSubmatchIndex(text, -1) {
		from, end := m[2], m[1]
		if aLink.MatchString(text[end:]) {
			continue
		}
		name := text[m[2]:m[3]] + ".md"
		found, length := cited(name, text[end:])
		if len(found) == 0 {
			found = []citation{{page: name}}
		}
		for _, c := range found {
			note(from, end+length, c)
		}
		copy(known[from:end+length], blank(text[from:end+length]))
	}
	for _, m := range bareLabel.FindAllIndex(known, -1) {
		c := citation{page: "state.md", label: text[m[0]:m[1]]}
		if strings.HasPrefix(c.label, "ORD") {
			c.page = "steps.md"
		}
		note(m[0], m[1], c)
	}
	if own != "" {
		for _, m := range ownSection.FindAllSubmatchIndex(known, -1) {
			note(m[2], m[3], citation{page: own, section: text[m[2]:m[3]]})
		}
	}
	return out
}

// cited parses the text after the name of a page. length is the length of the parsed part.
func cited(name, text string) (out []citation, length int) {
	rest := strings.Join(strings.Fields(text[:min(len(text), 300)]), " ")
	if text != "" && !strings.ContainsAny(text[:1], " \t\n,") {
		return nil, 0
	}
	rest = strings.TrimPrefix(rest, ", ")
	whole, last := rest, ""
	for {
		if m := aLabel.FindStringSubmatch(rest); m != nil {
			if name == "steps.md" != strings.HasPrefix(m[1], "ORD") {
				break
			}
			out = append(out, citation{page: name, section: last, label: m[1]})
			rest = rest[len(m[0]):]
		} else if m := aSection.FindStringSubmatch(rest); m != nil {
			rest, last = rest[len(m[0]):], m[1]
			var more []citation
			more, rest = qualified(citation{page: name, section: last}, rest)
			out = append(out, more...)
		} else {
			break
		}
		sep := separator.FindString(rest)
		next := rest[len(sep):]
		if sep == "" || !aLabel.MatchString(next) && !aSection.MatchString(next) {
			break
		}
		rest = next
	}
	if len(out) == 0 {
		return nil, 0
	}
	return out, lengthOf(text, whole[:len(whole)-len(rest)])
}

// qualified parses the parts after a section: items, labels, or a name.
func qualified(c citation, rest string) (out []citation, left string) {
	if m := someItems.FindStringSubmatch(rest); m != nil {
		for _, n := range append([]string{m[1]}, number.FindAllString(m[2], -1)...) {
			c.item = n
			out = append(out, c)
		}
		return out, rest[len(m[0]):]
	}
	if m := aName.FindStringSubmatch(rest); m != nil {
		c.name = m[1]
		return []citation{c}, rest[len(m[0]):]
	}
	if after, ok := strings.CutPrefix(rest, " "); ok {
		if m := aLabel.FindStringSubmatch(after); m != nil {
			c.label = m[1]
			return []citation{c}, after[len(m[0]):]
		}
	}
	return []citation{c}, rest
}

// lengthOf returns the length of the part of text with the same words as read, which has single spaces.
func lengthOf(text, read string) int {
	at := 0
	for _, word := range strings.Fields(read) {
		next := strings.Index(text[at:], word)
		if next < 0 {
			break
		}
		at += next + len(word)
	}
	return at
}

// blank replaces the characters of a text by spaces, except line ends.
func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}
