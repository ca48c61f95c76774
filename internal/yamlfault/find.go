package yamlfault

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Place is the place of an error. All numbers count from 1, columns in characters; End is exclusive.
type Place struct {
	Line, Column, End int
	// Opened names the line that opens an incomplete element, if that is another line: "the list that line 3 opens". It is "" otherwise.
	Opened string
}

// Find returns the place of an error for which gopkg.in/yaml.v3 has a message, without a line in it. Its successor has the same messages with the
// place. Find returns false if the successor does not report the same error.
func Find(text, message string) (Place, bool) {
	var n yaml.Node
	var fault *yaml.LoadError
	if err := yaml.Unmarshal([]byte(text), &n); !errors.As(err, &fault) || fault.Message != message || fault.Mark.Line == 0 {
		return Place{}, false
	}
	lines := strings.Split(text, "\n")
	at, opens := fault.Mark, fault.ContextMark
	what := opened[fault.ContextMsg]
	lastLine, lastColumn := end(lines)
	if at.Line > lastLine || at.Line == lastLine && at.Column > lastColumn { // an element is incomplete at the end of the text
		at.Line, at.Column = lastLine, lastColumn
		if what != "" {
			at, what = opens, ""
		}
	}
	if at.Line > len(lines) {
		return Place{}, false // YAML has more kinds of line ends than editors do
	}
	p := Place{Line: at.Line, Column: at.Column, End: at.Column + wordWidth(lines[at.Line-1], at.Column)}
	if what != "" && opens.Line < at.Line {
		p.Opened = fmt.Sprintf("%s that line %d opens", what, opens.Line)
	}
	return p, true
}

// opened maps contexts in the parser's messages to names of elements that end with a sign.
var opened = map[string]string{
	"while parsing a flow sequence": "the list", "while parsing a flow mapping": "the object", "while scanning a quoted scalar": "the text",
}

// end returns the place of the last character that is not space.
func end(lines []string) (line, column int) {
	for line := len(lines); line > 0; line-- {
		if text := strings.TrimRightFunc(lines[line-1], unicode.IsSpace); text != "" {
			return line, utf8.RuneCountInString(text)
		}
	}
	return 1, 1
}

// wordWidth returns the number of characters of the word at a column, 1 if there is none.
func wordWidth(line string, column int) int {
	n := 0
	for i, c := range []rune(line)[min(column-1, utf8.RuneCountInString(line)):] {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-' {
			break
		}
		n = i + 1
	}
	return max(n, 1)
}
