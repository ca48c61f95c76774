package property

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// appendJSONNumber writes the shortest text that reads back as f, with an exponent only below 1e-6 and from 1e21 up
// (state.md 1.17). f is finite.
func appendJSONNumber(dst []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	// strconv writes at least two digits of exponent: e-07 becomes e-7.
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// longString is the number of bytes at which copies of a string begin to matter.
const longString = 1 << 20

const hexDigits = "0123456789abcdef"

// appendJSONString writes s, which is UTF-8, with the escapes of state.md 1.17: "<", ">" and "&" stand for themselves,
// U+2028 and U+2029 are escaped.
func appendJSONString(dst []byte, s string) []byte {
	if len(s) > longString {
		dst = slices.Grow(dst, len(s)+len(s)/8) // with room for escapes and the rest: no second copy
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			// U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
			if c != 0xE2 || i+2 >= len(s) || s[i+1] != 0x80 || s[i+2]&^1 != 0xA8 {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[s[i+2]&0xF])
			i += 3
			start = i
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
	}
}

func sortedNames(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}
