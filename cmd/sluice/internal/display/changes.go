package display

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/sluice-iac/sluice/internal/text/align"
	"github.com/sluice-iac/sluice/stages/why"
)

// changePrinter formats the changed properties and options of a decision.
type changePrinter struct {
	names resourceNames
	style style
}

// change formats one changed property or option: its values, and the source of the new one.
func (p changePrinter) change(l why.Link, c why.Change) string {
	text := cleanLine(c.Place())
	if strings.HasSuffix(c.Kind, "replace") {
		text += " (forces replacement)"
	}
	text += ":"
	switch {
	case c.Old == nil && c.New == nil:
	case l.Reason == "dependency-replaced":
		text += " was " + valueText(c.Old) + ","
	default:
		text += " " + p.values(c.Old, c.New) + ","
	}
	return text + " " + p.origin(l, c)
}

func (p changePrinter) origin(l why.Link, c why.Change) string {
	switch c.Origin {
	case why.FromResource:
		return "from " + p.names.all(c.From)
	case why.FromEarlier:
		return "from " + p.names.all(c.From) + ", which an earlier operation changed"
	case why.FromConfiguration:
		if c.Setting != nil {
			return settingOrigin(l, c)
		}
		return "in the configuration of the stack or the version of the package"
	case why.FromOutside:
		if c.Recorded != nil {
			return "changed outside: recorded was " + valueText(c.Recorded)
		}
		return "changed outside"
	case why.FromCheck:
		return "filled in by its provider (Check)"
	case why.FromPolicy:
		return "changed by a policy"
	case why.FromProvider:
		return "though the program gives the same as before: its provider sees a difference to what exists"
	}
	text := "in the program"
	if at := cmp.Or(c.Position, l.Position); at != "" {
		text += " (" + cleanLine(at) + ")"
	}
	switch {
	case len(c.From) > 0:
		text += ", unless it is made of " + p.names.all(c.From)
	case len(c.Was) > 0 && len(c.Is) > 0:
		text += ", where it comes from " + p.names.all(c.Is) + " and came from " + p.names.all(c.Was)
	case len(c.Was) > 0:
		text += ", where it no longer comes from " + p.names.all(c.Was)
	case len(c.Is) > 0:
		text += ", where it comes from " + p.names.all(c.Is) + " now"
	}
	return text
}

// values formats the old and the new value of a property.
func (p changePrinter) values(old, new []byte) string {
	was, oldIsText := textOf(old)
	is, newIsText := textOf(new)
	if !oldIsText || !newIsText {
		return p.style.paint(red, valueText(old)) + arrow + p.style.paint(green, valueText(new))
	}
	isCut := strings.HasSuffix(was, "…") || strings.HasSuffix(is, "…")
	if what, same := sameDocument(was, is); same && !isCut {
		return what
	}
	o, n := align.Emphasis(was, is)
	return p.quoted(red, o) + arrow + p.quoted(green, n)
}

// quoted formats a text of which some parts differ. It paints each word separately, because lines may be broken between them.
func (p changePrinter) quoted(c colour, parts []align.Part) string {
	text := p.style.paint(c, `"`)
	for _, part := range parts {
		for i, word := range strings.Split(quotedPart(part.Text), " ") {
			if i > 0 {
				text += " "
			}
			text += p.style.difference(c, part.Differs, word)
		}
	}
	return text + p.style.paint(c, `"`)
}

// textOf returns the text of a value of the log. ok is false for other values, and for the words that stand for a missing
// value.
func textOf(v []byte) (text string, ok bool) {
	if len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &text) != nil {
		return "", false
	}
	return text, valueText(v) != text
}

// settingOrigin names the setting that a changed value comes from, with the values of the setting if they differ from it: "from
// config shop:region (Pulumi.dev.yaml:3), used at Pulumi.yaml:14".
func settingOrigin(l why.Link, c why.Change) string {
	s := c.Setting
	text := "from config " + cleanLine(s.Key)
	if !bytes.Equal(s.Old, c.Old) || !bytes.Equal(s.New, c.New) {
		text += " " + valueText(s.Old) + " → " + valueText(s.New)
	}
	if s.Position != "" {
		text += " (" + cleanLine(s.Position) + ")"
	}
	if at := cmp.Or(c.Position, l.Position); at != "" {
		text += ", used at " + cleanLine(at)
	}
	return text
}

// valueText formats a value of the log for people.
func valueText(v []byte) string {
	switch text := string(v); text {
	case "":
		return "nothing"
	case `"[secret]"`, `"[unknown]"`:
		return strings.Trim(text, `"`)
	default:
		return cleanLine(text)
	}
}
