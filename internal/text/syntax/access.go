package syntax

import (
	"errors"
	"strconv"
	"strings"
)

// Part is a piece of an interpolated string: text, and then the content of the "${...}" after it, if any.
type Part struct {
	Text   string
	Access *Access
}

// Access is the content of "${...}": the name of a value and the path to something inside it.
type Access struct {
	Root  string
	Steps []Step
	Range Range
}

// Step is one step into a value: a property by name, or an element by index.
type Step struct {
	Name    string
	Index   int
	IsIndex bool
}

// String returns the source form of the access.
func (a *Access) String() string {
	var b strings.Builder
	writeName(&b, a.Root, true)
	for _, s := range a.Steps {
		if s.IsIndex {
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
			continue
		}
		writeName(&b, s.Name, false)
	}
	return b.String()
}

// RootRange returns the place of the root alone.
func (a *Access) RootRange() Range {
	r := a.Range
	if end := r.Column + width(a.Root); r.Column > 0 && len(a.Steps) > 0 {
		r.End = min(r.End, end)
	}
	return r
}

func writeName(b *strings.Builder, name string, first bool) {
	switch plain := name != "" && !strings.ContainsAny(name, `.[]}"`); {
	case plain && first:
		b.WriteString(name)
	case plain:
		b.WriteString("." + name)
	default:
		b.WriteString(`["` + strings.ReplaceAll(name, `"`, `\"`) + `"]`)
	}
}

// The ways in which an interpolation is malformed.
var (
	errUnterminated = errors.New("this ${ is never closed; write $${ for the characters themselves")
	errQuote        = errors.New("the closing quote of a property name is missing")
	errBracket      = errors.New(`the closing bracket "]" of a property access is missing`)
	errIndexBracket = errors.New(`the closing bracket "]" of a list index is missing`)
	errIndex        = errors.New("a list index must be a whole number; put the name of a property in quotes")
	errRoot         = errors.New("a value begins with a name, not with a list index")
	errEmptyAccess  = errors.New("there is nothing between ${ and }")
)

// parseAccess reads an access up to its closing brace. Like Pulumi it tolerates superfluous dots.
func parseAccess(text string) (*Access, string, error) {
	var steps []Step
	for text != "" {
		switch text[0] {
		case '}':
			if len(steps) == 0 {
				return nil, "", errEmptyAccess
			}
			return &Access{Root: steps[0].Name, Steps: steps[1:]}, text[1:], nil
		case '.':
			text = text[1:]
		case '[':
			step, rest, err := parseSubscript(text)
			if err != nil {
				return nil, "", err
			}
			if step.IsIndex && len(steps) == 0 {
				return nil, "", errRoot
			}
			steps, text = append(steps, step), rest
		default:
			end := strings.IndexAny(text, ".[}")
			if end < 0 {
				return nil, "", errUnterminated
			}
			steps, text = append(steps, Step{Name: text[:end]}), text[end:]
		}
	}
	return nil, "", errUnterminated
}

func parseSubscript(text string) (Step, string, error) {
	if !strings.HasPrefix(text, `["`) {
		end := strings.IndexByte(text, ']')
		if end < 0 {
			return Step{}, "", errIndexBracket
		}
		index, err := strconv.Atoi(text[1:end])
		if err != nil {
			return Step{}, "", errIndex
		}
		return Step{Index: index, IsIndex: true}, text[end+1:], nil
	}
	var key strings.Builder
	for i := 2; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], `\"`):
			key.WriteByte('"')
			i++
		case text[i] != '"':
			key.WriteByte(text[i])
		case !strings.HasPrefix(text[i+1:], "]"):
			return Step{}, "", errBracket
		default:
			return Step{Name: key.String()}, text[i+2:], nil
		}
	}
	return Step{}, "", errQuote
}
