package printable

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	// colourTag matches Pulumi's mark-up in messages.
	colourTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<\{%[^%]*%\}>`) })
	// escapeSequence matches everything that a terminal interprets as a command.
	escapeSequence = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])`)
	})
)

// Text returns a printable message. It removes colour tags and terminal commands, and escapes other control characters except line ends
// and tabs.
func Text(text string) string {
	if strings.Contains(text, "<{%") {
		text = colourTag().ReplaceAllString(text, "")
	}
	if strings.Contains(text, "\x1b") {
		text = escapeSequence().ReplaceAllString(text, "")
	}
	return escaped(strings.ReplaceAll(text, "\r\n", "\n"))
}

// Line returns a printable name, or another text that must stay on one line. It removes nothing, so that different names look different.
func Line(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(escaped(text), "\n", `\n`), "\t", `\t`)
}

// escaped escapes the unsafe characters of a text.
func escaped(text string) string {
	if !strings.ContainsFunc(text, IsUnsafe) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if IsUnsafe(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// IsUnsafe reports whether a terminal or a reader may take a character for something else than a visible sign: control characters other
// than line ends and tabs, format characters, which include those that reverse the direction of writing, and others that have no width.
func IsUnsafe(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) ||
		r >= 0xe0100 && r <= 0xe01ef // variation selectors that no emoji has
}

// JSON escapes the unsafe characters of JSON. All of them are in strings, so the meaning stays the same.
func JSON(text []byte) []byte {
	if !anyUnsafe(text) {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		switch {
		case r == utf8.RuneError, r != '\r' && IsUnsafe(r): // in JSON, a raw carriage return is white space
			out = append(out, escape(r)...)
		default:
			out = append(out, text[at:at+size]...)
		}
		at += size
	}
	return out
}

// anyUnsafe reports whether a text has an unsafe character, or invalid bytes.
func anyUnsafe(text []byte) bool {
	for at := 0; at < len(text); {
		if b := text[at]; b < utf8.RuneSelf {
			if IsUnsafe(rune(b)) {
				return true
			}
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if size == 1 || IsUnsafe(r) {
			return true
		}
		at += size
	}
	return false
}

// escape returns an escape sequence, as in JSON.
func escape(r rune) string {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
