package property

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/internal/text/jsonscan"
)

// SyntaxError reports that text is not JSON.
type SyntaxError struct {
	Offset  int // in bytes
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON: %s at byte %d", e.Problem, e.Offset)
}

type jsonParser struct {
	decoder *stateDecoder
	text    jsonscan.Scanner
	// members and elements are those of the open objects and arrays. Each object or array is copied when it closes and its length is
	// known.
	members  members
	elements []Value
}

func (p *jsonParser) element(depth int) (Value, error) {
	c := p.text.Next()
	if err := p.decoder.budget.spend(depth, 0); err != nil {
		return Null, err
	}
	switch c {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		s, err := p.text.Text()
		if err != nil {
			return Null, err
		}
		return p.decoder.text(s)
	case 't':
		return Bool(true), p.text.Word("true")
	case 'f':
		return Bool(false), p.text.Word("false")
	case 'n':
		return Null, p.text.Word("null")
	default:
		f, err := p.text.Number()
		return Number(f), err
	}
}

func (p *jsonParser) array(depth int) (Value, error) {
	more, err := p.text.OpenArray()
	if !more {
		return Of(Array{}), err
	}
	first := len(p.elements)
	for more {
		v, err := p.element(depth + 1)
		if err != nil {
			return Null, within(err, Index(len(p.elements)-first))
		}
		p.elements = append(p.elements, v)
		if more, err = p.text.MoreElements(); err != nil {
			return Null, err
		}
	}
	a := slices.Clone(p.elements[first:])
	p.elements = p.elements[:first]
	return Of(Array{a}), nil
}

func (p *jsonParser) object(depth int) (Value, error) {
	more, err := p.text.OpenObject()
	if !more {
		return Of(Map{}), err
	}
	if p.members == nil {
		p.members = make(members, 0, 8)
	}
	first := len(p.members)
	for more {
		k, err := p.text.Name()
		if err != nil {
			return Null, err
		}
		p.decoder.budget.size += int64(len(k))
		v, err := p.element(depth + 1)
		if err != nil {
			return Null, within(err, Key(k))
		}
		p.members = append(p.members, member{k, v})
		if more, err = p.text.MoreMembers(); err != nil {
			return Null, err
		}
	}
	list := slices.Clone(p.members[first:])
	p.members = p.members[:first]
	return p.decoder.finish(list.object(), depth)
}
