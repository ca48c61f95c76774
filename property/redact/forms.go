package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"iter"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

const (
	// minSecret and minNumber are the lengths, in bytes, below which a text or a number is not masked: short ones occur in
	// messages by chance. The same holds for a line of less than minLine in a longer secret, such as a bracket.
	minSecret, minNumber, minLine = 3, 4, 4
	// minForm is the length of the shortest form.
	minForm = minSecret
	// minEncoded is the number of characters by which an encoded secret is recognised.
	minEncoded = 6
)

// isTelling reports whether a text is a secret by itself.
func isTelling(text string) bool {
	if len(text) < minSecret || len(text) < minNumber && strings.Trim(text, "+-.0123456789") == "" {
		return false
	}
	switch strings.ToLower(text) {
	case "true", "false", "yes", "null", "nil", "none", "undefined", "[unknown]", Mask:
		return false
	}
	return true
}

// boundary matches the lines around a key or a certificate in PEM.
var boundary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-----(BEGIN|END) [A-Z0-9 ]+-----$`) })

// parts yields the texts in a secret that are secrets too: its lines, because output is shown by the line, and the values
// in a JSON document, because programs take such a document apart.
func parts(secret string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if strings.ContainsAny(secret, "\r\n") {
			for line := range strings.FieldsFuncSeq(secret, func(r rune) bool { return r == '\n' || r == '\r' }) {
				line = strings.TrimSpace(line)
				if len(line) >= minLine && isTelling(line) && !boundary().MatchString(line) && !yield(line) {
					return
				}
			}
		}
		if !strings.HasPrefix(secret, "{") && !strings.HasPrefix(secret, "[") {
			return
		}
		d := json.NewDecoder(strings.NewReader(secret))
		d.UseNumber()
		var document any
		if d.Decode(&document) == nil && !d.More() {
			scalars(document, yield)
		}
	}
}

// scalars yields the texts and numbers in a JSON document. It returns false if yield did.
func scalars(document any, yield func(string) bool) bool {
	switch d := document.(type) {
	case string:
		text := strings.TrimSpace(d)
		return !isTelling(text) || yield(text)
	case json.Number:
		return !isTelling(d.String()) || yield(d.String())
	case []any:
		for _, e := range d {
			if !scalars(e, yield) {
				return false
			}
		}
	case map[string]any:
		for _, e := range d {
			if !scalars(e, yield) {
				return false
			}
		}
	}
	return true
}

// forms yields the ways to write a secret in a text: verbatim, escaped, and encoded. Some may be yielded more than
// once.
func forms(secret string) iter.Seq[string] {
	return func(yield func(string) bool) {
		digits := hex.EncodeToString([]byte(secret))
		_ = yield(secret) && yield(digits) && yield(strings.ToUpper(digits)) && escaped(secret, yield) && encoded(secret, yield)
	}
}

// escaped yields the forms in which single characters are replaced.
func escaped(secret string, yield func(string) bool) bool {
	if isPlain(secret) {
		return true // and is the same in all of them
	}
	once, again := quotes(secret), []string(nil)
	for _, q := range once {
		again = append(again, quotes(q)...) // JSON in JSON
	}
	for _, form := range append(once, again...) {
		if !yield(form) {
			return false
		}
	}
	query := url.QueryEscape(secret)
	component := strings.ReplaceAll(query, "+", "%20")
	for _, form := range []string{
		query, component, literals.Replace(component), url.PathEscape(secret), strings.TrimPrefix(url.UserPassword("", secret).String(), ":"),
	} {
		if !yield(form) || !yield(lowerHex(form)) {
			return false
		}
	}
	return true
}

// isPlain reports whether no format escapes any character of a text.
func isPlain(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// quotes returns a text as JSON, with and without the escapes for HTML, and as Go quotes it, without the quotation marks.
func quotes(text string) []string {
	html, _ := json.Marshal(text) // a string can always be encoded
	quoted := []string{asJSON(text), string(html), strconv.Quote(text), strconv.QuoteToASCII(text)}
	for i, q := range quoted {
		quoted[i] = q[1 : len(q)-1]
	}
	return quoted
}

// asJSON returns the text of a value of JSON, without the escapes for HTML.
func asJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "" // a number that JSON cannot express
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// literals restores the characters that JavaScript's encodeURIComponent leaves alone.
var literals = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

var percent = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[0-9A-F]{2}`) })

func lowerHex(escaped string) string { return percent().ReplaceAllStringFunc(escaped, strings.ToLower) }

// encoded yields the forms in base64. A secret that is part of a longer text has one of three forms there, depending on its
// position. Only the characters that depend on nothing but the secret are part of a form.
func encoded(secret string, yield func(string) bool) bool {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		if !yield(encoding.EncodeToString([]byte(secret))) {
			return false
		}
		for before := range 3 {
			text := encoding.WithPadding(base64.NoPadding).EncodeToString([]byte("\x00\x00\x00"[:before] + secret))
			text = text[(8*before+5)/6 : (8*(before+len(secret)))/6]
			if len(text) < minEncoded {
				continue
			}
			if !yield(text) || before == 0 && !wrapped(text, yield) {
				return false
			}
		}
	}
	return true
}

// wrapped yields the lines into which tools break a text in base64: of 76 characters in mail and by coreutils, of 64 in PEM.
func wrapped(text string, yield func(string) bool) bool {
	for _, width := range []int{76, 64} {
		for at := 0; len(text) > width && at+minEncoded <= len(text); at += width {
			if !yield(text[at:min(at+width, len(text))]) {
				return false
			}
		}
	}
	return true
}
