package syntax

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// File is a source file: its name for messages, and its lines.
type File struct {
	Name  string
	lines []string
}

// NewFile makes a file of its text.
func NewFile(name, text string) *File {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return &File{Name: name, lines: lines}
}

// line returns a line, "" when there is none.
func (f *File) line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return f.lines[n-1]
}

// wholeLine is the place of everything in a line but the space around it.
func (f *File) wholeLine(n int) Range {
	n = min(max(n, 1), len(f.lines))
	text := f.line(n)
	indent := width(text) - width(strings.TrimLeft(text, " \t"))
	return Range{Line: n, Column: indent + 1, End: max(indent+1, width(strings.TrimRight(text, " \t"))) + 1}
}

// rest returns what stands in a line from a column on.
func (f *File) rest(line, column int) string {
	text := f.line(line)
	for ; column > 1 && text != ""; column-- {
		text = text[len(string([]rune(text)[:1])):]
	}
	return text
}

// rangeOf is the place of a node: all of a scalar that stands in one line, else where the node begins.
func (f *File) rangeOf(y *yaml.Node) Range {
	r := Range{Line: y.Line, Column: y.Column, End: y.Column + 1}
	if y.Kind != yaml.ScalarNode {
		return r
	}
	text := f.rest(y.Line, y.Column)
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

// quotedWidth is how many characters the quoted text at the beginning of a line has, or what is left of the line.
func quotedWidth(text string) int {
	runes := []rune(text)
	for i := 1; i < len(runes); i++ {
		switch {
		case runes[i] == '\\' && runes[0] == '"':
			i++
		case runes[i] == '\'' && runes[0] == '\'' && i+1 < len(runes) && runes[i+1] == '\'':
			i++
		case runes[i] == runes[0]:
			return i + 1
		}
	}
	return max(1, len(runes))
}

// Interpolation is the place of the name in the n-th "${" of a string, counted from 0: from behind the brace to the next
// character that ends a name. It is the string's own place when that cannot be told.
func (f *File) Interpolation(in Range, n int) Range {
	for line := in.Line; line > 0 && line <= len(f.lines); line++ {
		column := 1
		if line == in.Line {
			column = in.Column
		}
		runes := []rune(f.rest(line, column))
		for i := 0; i+1 < len(runes); i++ {
			if runes[i] != '$' {
				continue
			}
			if runes[i+1] == '$' {
				i++
				continue
			}
			if runes[i+1] != '{' {
				continue
			}
			if n > 0 {
				n--
				continue
			}
			end := i + 2
			for end < len(runes) && !strings.ContainsRune("}\"'", runes[end]) {
				end++
			}
			return Range{Line: line, Column: column + i + 2, End: column + max(end, i+3)}
		}
	}
	return in
}
