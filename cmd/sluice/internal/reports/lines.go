package reports

import (
	"encoding/json"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages/why"
)

// line is one line of a diff: a sign " ", "+" or "-", and a text without control characters.
type line struct{ sign, text string }

// contextLines is the number of equal lines around a difference.
const contextLines = 2

// diffLines returns the lines of a change.
func diffLines(c Change) []line {
	name := display.CleanLine(c.place())
	if c.Replaces {
		name += " (forces replacement)"
	}
	if c.Hidden || c.Old == nil && c.New == nil {
		return []line{{signOf(c.Kind), name + note(c)}}
	}
	old, oldLines := textOf(c.Old)
	new, newLines := textOf(c.New)
	if !oldLines && !newLines {
		switch c.Kind {
		case Added:
			return []line{{"+", name + ": " + new + note(c)}}
		case Removed:
			return []line{{"-", name + ": " + old + note(c)}}
		case Same:
			return []line{{" ", name + ": " + new}}
		}
		if c.Old == nil || c.New == nil {
			return []line{{"~", name + ": " + old + new + note(c)}}
		}
		return []line{{"-", name + ": " + old}, {"+", name + ": " + new + note(c)}}
	}
	out := []line{{signOf(c.Kind), name + ":" + note(c)}}
	return append(out, differing(linesOf(c.Old, old), linesOf(c.New, new))...)
}

func signOf(k ChangeKind) string {
	return map[ChangeKind]string{Added: "+", Removed: "-", Updated: "~", Same: " "}[k]
}

// note returns a remark about a change: that its values are hidden, or where the new one comes from.
func note(c Change) string {
	switch {
	case c.Hidden:
		return " (hidden)"
	case len(c.From) > 0:
		names := make([]string, 0, 3)
		for i, u := range c.From {
			if i == 3 {
				names = append(names, format.PluralThousands(len(c.From)-i, "other", "others"))
				break
			}
			names = append(names, display.CleanLine(u.Name()))
		}
		from := strings.Join(names, ", ")
		switch c.Origin {
		case why.FromProgram: // the new value depends on them with other properties too
			return "  ← the program, unless it is made of " + from
		case why.FromEarlier:
			return "  ← " + from + ", which an earlier operation changed"
		}
		return "  ← " + from
	case c.Origin != "" && c.Origin != "program" && c.Origin != "resource":
		return "  ← " + string(c.Origin)
	}
	return ""
}

// textOf returns a value on one line. several reports whether it is a text of several lines.
func textOf(value json.RawMessage) (text string, several bool) {
	if value == nil {
		return "", false
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return display.CleanLine(string(value)), false
	}
	if s == "[secret]" || s == "[unknown]" {
		return s, false
	}
	if strings.Contains(strings.TrimRight(s, "\n"), "\n") {
		return "", true
	}
	return display.CleanLine(string(value)), false
}

// linesOf returns the lines of a text, or one line for another value.
func linesOf(value json.RawMessage, text string) []string {
	var s string
	switch {
	case value == nil:
		return nil
	case text != "" || json.Unmarshal(value, &s) != nil:
		return []string{text}
	}
	return strings.Split(display.Clean(strings.TrimSuffix(s, "\n")), "\n")
}

// differing returns the differing lines of two texts, with context.
func differing(old, new []string) []line {
	head := 0
	for head < min(len(old), len(new)) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(new))-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	var out []line
	add := func(sign string, lines []string) {
		for _, text := range lines {
			out = append(out, line{sign, "  " + text})
		}
	}
	if head > contextLines {
		out = append(out, line{" ", "  …"})
	}
	add(" ", old[max(head-contextLines, 0):head])
	add("-", old[head:len(old)-tail])
	add("+", new[head:len(new)-tail])
	after := old[len(old)-tail:]
	add(" ", after[:min(len(after), contextLines)])
	if len(after) > contextLines {
		out = append(out, line{" ", "  …"})
	}
	return out
}
