package yamlfault

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Place is where a mistake is. All numbers count from 1, columns in characters; End is not included.
type Place struct {
	Line, Column, End int
	// Opened names the list, object or text that is not complete, with the line that opens it, if that is another line: "the list that line 3 opens".
	Opened string
}

// Find returns the place of a mistake for which the parser has a message, without the line. It returns false if the place cannot be found.
func Find(text, message string) (Place, bool) {
	f := &finder{budget: maxParsed + len(text)}
	got, read := f.parse(text + strings.Repeat("\n", 2*maxLookahead))
	if got != message || !utf8.ValidString(text) {
		return Place{}, false
	}
	at, found := f.mistake(text, message, min(read, len(text)+maxLookahead))
	if !found {
		return Place{}, false
	}
	what := opens[message]
	opener := -1
	if what.signs != "" {
		opener = f.opening(text[:min(at, len(text))], what.signs)
	}
	if last := len(strings.TrimRightFunc(text, unicode.IsSpace)); at >= last { // the text ends before something is complete
		_, size := utf8.DecodeLastRuneInString(text[:last])
		if at = last - size; opener >= 0 {
			at, opener = opener, -1
		}
	}
	p := place(text, at)
	if opener >= 0 {
		if line := place(text, opener).Line; line < p.Line {
			p.Opened = fmt.Sprintf("%s that line %d opens", what.name, line)
		}
	}
	return p, true
}

// The messages of the parser that say what is missing.
const (
	noColon     = "could not find expected ':'"
	noQuote     = "found unexpected end of stream"
	noListEnd   = "did not find expected ',' or ']'"
	noObjectEnd = "did not find expected ',' or '}'"
	noContent   = "did not find expected node content"
	noLineEnd   = "did not find expected comment or line break"
)

// lookahead has, for messages of the scanner, how many characters behind the mistake the scanner has read.
var lookahead = map[string]int{
	noColon: maxLookahead,
	"block sequence entries are not allowed in this context": maxLookahead,
	"mapping keys are not allowed in this context":           maxLookahead,
	"mapping values are not allowed in this context":         maxLookahead,
	"found character that cannot start any token":            maxLookahead,
	"found unexpected document indicator":                    maxLookahead,
	"did not find expected alphabetic or numeric character":  3,
	"could not find expected directive name":                 3,
	"found unexpected non-alphabetical character":            1,
}

const maxLookahead = 4

// opens has, for messages about a list, an object or a quoted text that is not complete, its name and the signs that open it.
var opens = map[string]struct{ name, signs string }{
	noListEnd: {"the list", "["}, noObjectEnd: {"the object", "{"}, noQuote: {"the text", `"'`},
	"found unexpected document indicator":         {"the text", `"'`},
	"found unknown escape character":              {"the text", `"`},
	"did not find expected hexdecimal number":     {"the text", `"`},
	"found invalid Unicode character escape code": {"the text", `"`},
}

var (
	position     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (line \d+: )?`) })
	blockHeader  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^.*[|>][-+0-9]{0,2}[ \t]*`) })
	unknownAlias = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^unknown anchor '(.*)' referenced$`) })
)

// A finder parses parts of a text until it has found the mistake, or has parsed too much.
type finder struct {
	budget int // how many bytes it may still parse
}

const maxParsed = 8 << 20

// parse returns the message about the first mistake in a text, "" if there is none, and how many bytes the parser has read when it finds it.
func (f *finder) parse(text string) (message string, read int) {
	f.budget -= len(text)
	if f.budget < 0 {
		return "the text is too long", 0
	}
	r := &byteReader{text: text}
	defer func() {
		if p := recover(); p != nil { // the parser has panicked on malformed input
			message, read = fmt.Sprint(p), r.read
		}
	}()
	var n yaml.Node
	if err := yaml.NewDecoder(r).Decode(&n); err != nil && err != io.EOF {
		message = position().ReplaceAllString(err.Error(), "")
	}
	return message, r.read
}

// byteReader reads single bytes, so that the parser reads no more than it needs.
type byteReader struct {
	text string
	read int
}

func (r *byteReader) Read(b []byte) (int, error) {
	if r.read == len(r.text) {
		return 0, io.EOF
	}
	n := copy(b[:1], r.text[r.read:])
	r.read += n
	return n, nil
}

// mistake returns the offset of a mistake. The parser has read the bytes before read when it finds it.
func (f *finder) mistake(text, message string, read int) (offset int, found bool) {
	if message == noQuote {
		return len(text), true
	}
	if alias := unknownAlias().FindStringSubmatch(message); alias != nil {
		at := f.aliasThatFails(text[:min(read, len(text))], "*"+alias[1], message)
		return at, at >= 0
	}
	text = (text + strings.Repeat("\n", maxLookahead))[:read]
	if n, ok := lookahead[message]; ok {
		for range n {
			_, size := utf8.DecodeLastRuneInString(text)
			text = text[:len(text)-size]
		}
		return len(text), true
	}
	if message == noLineEnd {
		if header := blockHeader().FindStringIndex(text); header != nil {
			return header[1], true
		}
	}
	if strings.Count(text, "[")+strings.Count(text, "{")-strings.Count(text, "]")-strings.Count(text, "}") > maxDepth {
		return 0, false // each part that is not nested as deeply can be completed, whether the mistake is in it or not
	}
	// The mistake is at the end of the longest part that can be completed.
	for next := rune('\n'); text != "" && f.budget > 0; {
		last, size := utf8.DecodeLastRuneInString(text)
		if !(isWord(last) && isWord(next) || last == '-' && !unicode.IsSpace(next)) { // a token may begin here
			if f.complete(text) {
				return len(text), true
			}
		}
		text, next = text[:len(text)-size], last
	}
	return 0, text == ""
}

// aliasThatFails returns the offset of the first use of an alias at which the parser stops with a message, or of its last use; -1 if it is not used.
func (f *finder) aliasThatFails(text, alias, message string) int {
	for at := range text {
		if strings.HasPrefix(text[at:], alias) {
			if got, _ := f.parse(text[:at+len(alias)]); got == message {
				return at
			}
		}
	}
	return strings.LastIndex(text, alias)
}

// maxDepth limits how many signs are added to a text.
const maxDepth = 100

// complete reports whether a text has no mistake after missing signs are added to its end.
func (f *finder) complete(text string) bool {
	_, ok := f.missing(text)
	return ok
}

// missing returns the quotes and brackets that a text lacks at its end, innermost first.
func (f *finder) missing(text string) (signs string, ok bool) {
	var quote, colon, content, brackets string
	for range maxDepth {
		all := text + quote + colon + content + brackets
		message, read := f.parse(all)
		switch {
		case message == "":
			return quote + strings.ReplaceAll(brackets, "\n", ""), true
		case read < len(all):
			return "", false
		case message == noQuote && quote == "":
			quote = `"`
		case message == noQuote && quote == `"`:
			quote = `'`
		case message == noColon && colon == "":
			colon = ":"
		case message == noContent && content == "":
			content = "\nx"
		case message == noListEnd:
			brackets += "\n]"
		case message == noObjectEnd:
			brackets += "\n}"
		default:
			return "", false
		}
	}
	return "", false
}

// opening returns the offset of the sign that opens the innermost incomplete part of a text; -1 if there is none.
func (f *finder) opening(text, signs string) int {
	inner, _ := f.missing(text)
	for at := strings.LastIndexAny(text, signs); at >= 0; at = strings.LastIndexAny(text[:at], signs) {
		if text[at] == '"' || text[at] == '\'' {
			if message, _ := f.parse(text[:at]); message != noQuote && f.budget >= 0 {
				return at
			}
		} else if outer, ok := f.missing(text[:at]); ok && inner != "" && outer == inner[1:] {
			return at
		}
	}
	return -1
}

// place returns the place of a word that begins at an offset.
func place(text string, offset int) Place {
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	column := utf8.RuneCountInString(before[start:]) + 1
	return Place{Line: strings.Count(before, "\n") + 1, Column: column, End: column + wordWidth(line[offset-start:])}
}

// wordWidth returns how many characters the word at the beginning of a text has, 1 if there is none.
func wordWidth(text string) int {
	rest := strings.TrimLeftFunc(text, isWord)
	return max(utf8.RuneCountInString(text[:len(text)-len(rest)]), 1)
}

// isWord reports whether words have a character.
func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '-' }
