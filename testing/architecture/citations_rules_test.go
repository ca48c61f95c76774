package architecture

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page has the parts of a page of rules that can be cited.
type page struct {
	sections map[string]*section // by number; appendices by letter
	labels   map[string]string   // label -> the section that defines it
}

// section has the parts of a section that can be cited, without its subsections.
type section struct {
	text   string
	anchor string          // in links to the section
	items  map[string]bool // numbers of list items
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
				number, at = m[1], &section{anchor: anchorOf(line), items: map[string]bool{}}
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

var notInAnchors = regexp.MustCompile(`[^\w\- ]`)

// anchorOf returns the anchor of a heading on the pages that GitHub makes.
func anchorOf(heading string) string {
	text := strings.TrimSpace(strings.TrimLeft(heading, "#"))
	return strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
}

// problemOf returns the mistake in a citation, "" if it is correct.
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

// mentions reports whether a section or one of its subsections contains a text, ignoring case.
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
