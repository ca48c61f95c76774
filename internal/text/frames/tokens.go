package frames

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind int

const (
	sign   kind = iota // a bracket, an operator
	name               // an identifier
	number             // a number, true or false
	quoted             // a text
)

// token is a token of a statement. The text of a quoted token has no quotes.
type token struct {
	kind kind
	text string
	line int
}

// names reports whether a token is the name of a property: as in the schema, or in the form of another language.
func (t token) names(key string) bool {
	switch t.kind {
	case quoted:
		return t.text == key
	case name:
		return t.text == key || t.text == snake(key) || t.text == upper(key)
	}
	return false
}

// snake returns a name in the form of Python: "instanceType" is "instance_type".
func snake(key string) string {
	var b strings.Builder
	for i, r := range key {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// upper returns a name in the form of Go and C#.
func upper(key string) string {
	r, size := utf8.DecodeRuneInString(key)
	return string(unicode.ToUpper(r)) + key[size:]
}

// maxStatement is the number of lines of a statement that are read.
const maxStatement = 400

// statement returns the tokens of the statement that begins in a line of a text: up to the end of the line in which all brackets are closed.
// extension is that of the file.
func statement(text string, line int, extension string) []token {
	s := scanner{rest: text, line: 1, hash: extension == ".py"}
	for s.line < line && s.rest != "" {
		_, s.rest, _ = strings.Cut(s.rest, "\n")
		s.line++
	}
	var out []token
	depth, last := 0, line
	for s.line < line+maxStatement {
		t, ok := s.next()
		if !ok || t.line > last && depth == 0 && len(out) > 0 {
			break
		}
		last = s.line
		out = append(out, t)
		switch {
		case t.kind != sign:
		case strings.Contains("([{", t.text):
			depth++
		case strings.Contains(")]}", t.text):
			depth = max(depth-1, 0)
		}
	}
	return out
}

// valueAt returns the tokens of the value that begins at a place: up to a comma, or the end of what contains it.
func valueAt(tokens []token, at int) []token {
	depth := 0
	for i := at; i < len(tokens); i++ {
		t := tokens[i]
		if t.kind != sign {
			continue
		}
		switch {
		case strings.Contains("([{", t.text):
			depth++
		case depth > 0 && strings.Contains(")]}", t.text):
			depth--
		case depth == 0 && strings.Contains(",;)]}", t.text):
			return tokens[at:i]
		}
	}
	return tokens[min(at, len(tokens)):]
}

// scanner splits a text into tokens.
type scanner struct {
	rest string
	line int
	hash bool // # begins a comment
}

// next returns the next token, false at the end.
func (s *scanner) next() (token, bool) {
	s.skip()
	if s.rest == "" {
		return token{}, false
	}
	line := s.line
	r, size := utf8.DecodeRuneInString(s.rest)
	switch {
	case r == '"' || r == '\'' || r == '`':
		return token{quoted, s.quoted(), line}, true
	case unicode.IsDigit(r):
		text := s.take(func(r rune) bool { return unicode.IsDigit(r) || unicode.IsLetter(r) || r == '.' || r == '_' })
		return token{number, strings.ReplaceAll(text, "_", ""), line}, true
	case isNameRune(r):
		switch text := s.take(isNameRune); text {
		case "true", "false", "True", "False":
			return token{number, strings.ToLower(text), line}, true
		default:
			return token{name, text, line}, true
		}
	}
	for _, operator := range []string{"===", "==", "=>", ":=", "!=", "<=", ">="} {
		if strings.HasPrefix(s.rest, operator) {
			s.rest = s.rest[len(operator):]
			return token{sign, operator, line}, true
		}
	}
	s.rest = s.rest[size:]
	return token{sign, string(r), line}, true
}

func isNameRune(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// skip removes spaces and comments.
func (s *scanner) skip() {
	for s.rest != "" {
		switch {
		case s.rest[0] == '\n':
			s.line++
			s.rest = s.rest[1:]
		case s.rest[0] == ' ' || s.rest[0] == '\t' || s.rest[0] == '\r':
			s.rest = s.rest[1:]
		case strings.HasPrefix(s.rest, "//") || s.hash && s.rest[0] == '#':
			end := strings.IndexByte(s.rest, '\n')
			if end < 0 {
				end = len(s.rest)
			}
			s.rest = s.rest[end:]
		case strings.HasPrefix(s.rest, "/*"):
			comment, after, _ := strings.Cut(s.rest, "*/")
			s.line += strings.Count(comment, "\n")
			s.rest = after
		default:
			return
		}
	}
}

// take removes the leading runes that is accepts, and returns them.
func (s *scanner) take(is func(rune) bool) string {
	end := strings.IndexFunc(s.rest, func(r rune) bool { return !is(r) })
	if end < 0 {
		end = len(s.rest)
	}
	text := s.rest[:end]
	s.rest = s.rest[end:]
	return text
}

// quoted removes a text in quotes, and returns its content. Escapes stay, except for that of the quote.
func (s *scanner) quoted() string {
	quote := s.rest[:1]
	if triple := strings.Repeat(quote, 3); s.hash && strings.HasPrefix(s.rest, triple) {
		quote = triple
	}
	s.rest = s.rest[len(quote):]
	var b strings.Builder
	for s.rest != "" && !strings.HasPrefix(s.rest, quote) {
		if s.rest[0] == '\n' {
			if quote == `"` || quote == "'" {
				return b.String() // the quote was an apostrophe
			}
			s.line++
		}
		if s.rest[0] == '\\' && len(s.rest) > 1 {
			if strings.HasPrefix(s.rest[1:], quote) {
				s.rest = s.rest[1:]
			} else {
				b.WriteByte('\\')
				s.rest = s.rest[1:]
			}
		}
		_, size := utf8.DecodeRuneInString(s.rest)
		b.WriteString(s.rest[:size])
		s.rest = s.rest[size:]
	}
	s.rest = strings.TrimPrefix(s.rest, quote)
	return b.String()
}
