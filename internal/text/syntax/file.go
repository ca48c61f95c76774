package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/internal/text/excerpt"
)

// File is a source file: its name for messages, and its lines. It is not safe for concurrent use while it is parsed.
type File struct {
	Name  string
	lines []string
	// starts holds the byte offsets of the characters of a line. It is filled on demand, for lines that are not plain
	// ASCII.
	starts map[int][]int
	ascii  map[int]bool
	shifts map[int][]shift // by line
}

// shift records a column of a parsed line from which the file has more characters before it, and their number.
type shift struct{ column, by int }

// column returns the column in the file for a column of the parsed text.
func (f *File) column(line, parsed int) int {
	shifts := f.shifts[line]
	n, _ := slices.BinarySearchFunc(shifts, parsed+1, func(s shift, column int) int { return s.column - column })
	if n == 0 {
		return parsed
	}
	return parsed + shifts[n-1].by
}

// NewFile makes a file from its text.
func NewFile(name, text string) *File {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return &File{Name: name, lines: lines, starts: map[int][]int{}, ascii: map[int]bool{}}
}

// line returns a line, "" when there is none.
func (f *File) line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return f.lines[n-1]
}

// wholeLine returns the range of a line without the space around it.
func (f *File) wholeLine(n int) Range {
	n = min(max(n, 1), len(f.lines))
	column, end := excerpt.Whole(f.line(n))
	return Range{Line: n, Column: column, End: end}
}

// rest returns the rest of a line from a column on. It does not scan the line, because a whole program may be in one
// line.
func (f *File) rest(line, column int) string {
	text := f.line(line)
	if column <= 1 {
		return text
	}
	plain, known := f.ascii[line]
	if !known {
		plain = width(text) == len(text)
		f.ascii[line] = plain
	}
	if plain {
		return text[min(column-1, len(text)):]
	}
	starts, known := f.starts[line]
	if !known {
		for i := range text {
			starts = append(starts, i)
		}
		f.starts[line] = starts
	}
	if column > len(starts) {
		return ""
	}
	return text[starts[column-1]:]
}

// rangeOf returns the range of a node: all of a scalar on one line, otherwise the place where the node begins.
func (f *File) rangeOf(y *yaml.Node) Range {
	column := f.column(y.Line, y.Column)
	r := Range{Line: y.Line, Column: column, End: column + 1}
	if y.Kind != yaml.ScalarNode {
		return r
	}
	text := f.rest(y.Line, column)
	if y.Style&yaml.TaggedStyle != 0 {
		return r
	}
	switch {
	case y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		r.End = r.Column + quotedWidth(text)
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
	case strings.HasPrefix(text, y.Value):
		r.End = r.Column + max(1, width(y.Value))
	}
	return r
}

// quotedWidth returns how many characters the quoted text at the beginning of a line has, or the rest of the line.
func quotedWidth(text string) int {
	if text == "" {
		return 1
	}
	quote, n := text[0], 1
	for i := 1; i < len(text); n++ {
		switch c := text[i]; {
		case c == '\\' && quote == '"' && i+1 < len(text), c == '\'' && quote == '\'' && strings.HasPrefix(text[i:], "''"):
			i++ // an escape of two characters; the second one is counted by the next iteration
			n++
		case c == quote:
			return n + 1
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return n
}

// interpolations returns a function that returns the range of the name in each "${" of a string in turn: from after
// the brace to the next character that ends a name. If that cannot be found, it returns the range of the string.
func (f *File) interpolations(in Range) func() Range {
	line, column := in.Line, in.Column
	text := f.rest(line, column)
	// skip skips n bytes, and as many characters as they have.
	skip := func(n int) { text, column = text[n:], column+n }
	return func() Range {
		for line > 0 && line <= len(f.lines) {
			next := strings.IndexByte(text, '$')
			if next < 0 || next+1 == len(text) {
				line, column = line+1, 1
				text = f.line(line)
				continue
			}
			column += width(text[:next])
			text = text[next:]
			switch text[1] {
			case '$':
				skip(2)
			case '{':
				skip(2)
				name := text
				if end := strings.IndexAny(text, "}\"'"); end >= 0 {
					name = text[:end]
				}
				at := Range{Line: line, Column: column, End: column + max(width(name), 1)}
				return at
			default:
				skip(1)
			}
		}
		return in
	}
}

// Interpolate splits a string at its interpolations (protocol.md 11.6). "$$" stands for "$".
func (f *File) Interpolate(text string, at Range) ([]Part, *Diagnostic) {
	switch {
	case text == "":
		return nil, nil
	case !strings.Contains(text, "$"):
		return []Part{{Text: text}}, nil
	}
	var parts []Part
	var b strings.Builder
	place := f.interpolations(at)
	for text != "" {
		switch {
		case strings.HasPrefix(text, "$$"):
			b.WriteByte('$')
			text = text[2:]
		case strings.HasPrefix(text, "${"):
			here := place()
			access, rest, err := parseAccess(text[2:])
			if err != nil {
				return nil, &Diagnostic{Severity: Error, Range: here, Summary: err.Error()}
			}
			access.Range = here
			parts = append(parts, Part{Text: b.String(), Access: access})
			b.Reset()
			text = rest
		default:
			next := strings.IndexByte(text[1:], '$') + 1
			if next == 0 {
				next = len(text)
			}
			b.WriteString(text[:next])
			text = text[next:]
		}
	}
	if b.Len() > 0 {
		parts = append(parts, Part{Text: b.String()})
	}
	return parts, nil
}
