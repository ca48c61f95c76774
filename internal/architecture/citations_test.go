package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The pages of rules; docs/spec/README.md says how they are cited.
const spec = "docs/spec"

func TestCitationsLeadSomewhere(t *testing.T) {
	rules := readRules(t)
	count := 0
	files(t, func(file string) {
		for _, p := range passages(t, file) {
			for _, c := range citationsIn(p, pageOf(file)) {
				count++
				if problem := rules.problemOf(c); problem != "" {
					t.Errorf("%s:%d: %q: %s", file, c.line, c.text, problem)
				}
			}
		}
	})
	require.Greater(t, count, 700)
}

func TestNumbersOfRulesHaveNoHoles(t *testing.T) {
	for name, page := range readRules(t) {
		for number := range page.sections {
			parent, last := cutNumber(number)
			n, err := strconv.Atoi(last)
			if err != nil || n <= 1 {
				continue // letters, and the first of their kind
			}
			if before := joinNumber(parent, strconv.Itoa(n-1)); page.sections[before] == nil {
				t.Errorf("%s has a section %s and no section %s", name, number, before)
			}
			if parent != "" && page.sections[parent] == nil {
				t.Errorf("%s has a section %s and no section %s", name, number, parent)
			}
		}
	}
}

func TestCitationsAreFound(t *testing.T) {
	for text, want := range map[string][]string{
		"(steps.md 3.11)":                             {"steps.md 3.11"},
		"(steps.md 3.11, 5)":                          {"steps.md 3.11", "steps.md 5"},
		"steps.md 7.4, 7.5: both":                     {"steps.md 7.4", "steps.md 7.5"},
		"(state.md\n 9.4 R-6 to R-8, R-10)":           {"state.md 9.4 R-6", "state.md 9.4 R-8", "state.md 9.4 R-10"},
		"protocol.md 9 and 10 and the rest":           {"protocol.md 9", "protocol.md 10"},
		"steps.md 1.2 items 8 and 9, 3.4":             {"steps.md 1.2 item 8", "steps.md 1.2 item 9", "steps.md 3.4"},
		"steps.md 5.3 rule 4.":                        {"steps.md 5.3 item 4"},
		`steps.md 3.11, "ignoring impossible"`:        {`steps.md 3.11 "ignoring impossible"`},
		"protocol.md section 8, state.md sections 1":  {"protocol.md 8", "state.md 1"},
		"steps.md appendix B, A.2":                    {"steps.md B", "steps.md A.2"},
		"see ORD-3, ORD-4":                            {"steps.md ORD-3", "steps.md ORD-4"},
		"steps.md ORD-3 and R-4":                      {"steps.md ORD-3", "state.md R-4"},
		"[it](docs/state.md) and `spec/steps.md` (3)": nil,
		"steps.md says":                               {"steps.md"},
		"the numbers 3.11 and [rules](state.md)":      nil,
		"[state.md](state.md) says":                   nil,
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, c := range citationsIn(passage{text: text, line: 1}, "") {
				got = append(got, c.String())
			}
			require.Equal(t, want, got)
		})
	}
}

// page is what can be cited of one page of rules.
type page struct {
	sections map[string]*section // by number; appendices by letter
	labels   map[string]string   // label -> the section that defines it
}

// section is what can be cited of one section, without its subsections.
type section struct {
	text  string
	items map[string]bool // numbers of list items
}

type ruleSet map[string]*page

var (
	heading = regexp.MustCompile(`^#{2,4} (?:Appendix )?([A-Z]|(?:[A-Z]\.)?\d+(?:\.\d+)*)\.? `)
	label   = regexp.MustCompile(`^\| ([A-Z]+-?\d+) \|`)
	item    = regexp.MustCompile(`^\s*(\d+)\. `)
)

func readRules(t *testing.T) ruleSet {
	t.Helper()
	rules := ruleSet{}
	for _, name := range []string{"steps.md", "state.md", "protocol.md"} {
		text, err := os.ReadFile(filepath.Join(root, spec, name))
		require.NoError(t, err)
		p := &page{sections: map[string]*section{}, labels: map[string]string{}}
		number, at := "", &section{}
		for i, line := range strings.Split(string(text), "\n") {
			if m := heading.FindStringSubmatch(line); m != nil {
				number, at = m[1], &section{items: map[string]bool{}}
				if p.sections[number] != nil {
					t.Errorf("%s/%s:%d: a second section %s", spec, name, i+1, number)
				}
				p.sections[number] = at
				continue
			}
			at.text += line + "\n"
			if m := item.FindStringSubmatch(line); m != nil && number != "" {
				at.items[m[1]] = true
			}
			if m := label.FindStringSubmatch(line); m != nil {
				if other, twice := p.labels[m[1]]; twice {
					t.Errorf("%s/%s:%d: %s is in section %s already", spec, name, i+1, m[1], other)
				}
				p.labels[m[1]] = number
			}
		}
		require.NotEmpty(t, p.sections, name)
		rules[name] = p
	}
	return rules
}

// problemOf says why a citation leads nowhere, "" if it does not.
func (r ruleSet) problemOf(c citation) string {
	p := r[c.page]
	at := p.sections[c.section]
	switch {
	case c.section == "" && c.label == "":
		return "a page is cited by a section, as " + c.page + " 1.2"
	case c.section != "" && at == nil:
		return fmt.Sprintf("%s has no section %s", c.page, c.section)
	case c.item != "" && !at.items[c.item]:
		return fmt.Sprintf("section %s of %s has no item %s", c.section, c.page, c.item)
	case c.name != "" && !p.mentions(c.section, c.name):
		return fmt.Sprintf("section %s of %s does not mention %q", c.section, c.page, c.name)
	case c.label == "":
		return ""
	}
	where, ok := p.labels[c.label]
	if !ok {
		return fmt.Sprintf("%s has no rule %s", c.page, c.label)
	}
	if c.section != "" && !isWithin(where, c.section) {
		return fmt.Sprintf("rule %s is in section %s", c.label, where)
	}
	return ""
}

// mentions reports whether a section or one of its subsections has a text in it, in upper or lower case.
func (p *page) mentions(number, text string) bool {
	for n, s := range p.sections {
		if isWithin(n, number) && strings.Contains(flat(s.text), flat(text)) {
			return true
		}
	}
	return false
}

func flat(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func isWithin(number, of string) bool { return number == of || strings.HasPrefix(number, of+".") }

func cutNumber(number string) (parent, last string) {
	if at := strings.LastIndexByte(number, '.'); at >= 0 {
		return number[:at], number[at+1:]
	}
	return "", number
}

func joinNumber(parent, last string) string {
	if parent == "" {
		return last
	}
	return parent + "." + last
}

// passage is a piece of text that may cite rules, with the number of its first line.
type passage struct {
	text string
	line int
}

// passages returns the comments and strings of a Go file, and other texts as a whole.
func passages(t *testing.T, file string) []passage {
	t.Helper()
	switch {
	case strings.Contains(file, "testdata/"), path.Base(file) == "citations_test.go", file == spec+"/README.md":
		return nil
	case strings.HasSuffix(file, ".go"):
		return goPassages(t, file)
	case strings.HasSuffix(file, ".md"), strings.HasPrefix(file, "docs/") && strings.HasSuffix(file, ".json"):
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		return []passage{{string(text), 1}}
	}
	return nil
}

var commentMark = regexp.MustCompile(`(?m)^\s*//`)

func goPassages(t *testing.T, file string) []passage {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution|parser.ParseComments)
	require.NoError(t, err)
	var out []passage
	add := func(pos token.Pos, text string) { out = append(out, passage{text, set.Position(pos).Line}) }
	for _, group := range tree.Comments {
		var text strings.Builder
		for _, c := range group.List {
			text.WriteString(commentMark.ReplaceAllString(c.Text, "") + "\n")
		}
		add(group.Pos(), text.String())
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, is := n.(*ast.BasicLit); is && s.Kind == token.STRING {
			add(s.Pos(), s.Value)
		}
		return true
	})
	return out
}

// citation is one rule that a text cites.
type citation struct {
	page          string
	section, item string
	label, name   string
	text          string // as it is written, as far as it is understood
	line          int
}

// String is the citation in its full form.
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
	// A page is cited by its bare name: what is part of a path or a link is none.
	pageName = regexp.MustCompile(`(?:^|[^\w/.\]-])(steps|state|protocol)\.md\b`)
	aLink    = regexp.MustCompile("^[])`#]")
	// What separates what is cited of one page.
	separator = regexp.MustCompile(`^(?:, and |,? and |,? to |, |: ?|; )`)
	aSection  = regexp.MustCompile(`^(?:sections? |appendix )?((?:[A-Z]\.)?\d+(?:\.\d+)*|[A-Z])\b`)
	aLabel    = regexp.MustCompile(`^([A-Z]+-\d+)\b`)
	someItems = regexp.MustCompile(`^,? ?(?:items?|rules?|steps?|points?|rows?) (\d+)((?: (?:and|to) \d+)*)`)
	aName     = regexp.MustCompile(`^,? "([^"]+)"`)
	number    = regexp.MustCompile(`\d+`)
	// Labels that need no page.
	bareLabel = regexp.MustCompile(`\b(ORD|R|I|C)-\d+\b`)
	// Sections of the same page, in the pages of rules.
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

// citationsIn finds what a text cites. In a page of rules, own, bare numbers cite sections of that page.
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

// cited reads what follows the name of a page, and returns how long it is.
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

// qualified reads what a section is narrowed down to: items, labels, or a name.
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

// lengthOf returns how much of text has the same words as read, which has single spaces.
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

// blank makes spaces of a text and keeps its lines.
func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}
