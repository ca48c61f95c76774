package workspace

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// PathScalar returns the value of a text under config --path: true, false and integers without a leading zero are
// typed, everything else is a string (state.md 6.6).
func PathScalar(text string) Value {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(i, 10) == text {
		return json.Number(text)
	}
	return text
}

// TypedScalar returns the value of a text for config set --type: string, int, bool or float.
func TypedScalar(typ, text string) (Value, error) {
	switch typ {
	case "", "string":
		return text, nil
	case "int":
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return json.Number(strconv.FormatInt(i, 10)), nil
		}
		return nil, configErrorf("%q is not an integer, as --type int requires", text)
	case "float":
		f, err := strconv.ParseFloat(text, 64)
		if number, encodeErr := json.Marshal(f); err == nil && encodeErr == nil {
			return json.Number(number), nil
		}
		return nil, configErrorf("%q is not a number, as --type float requires", text)
	case "bool":
		if text == "true" || text == "false" {
			return text == "true", nil
		}
		return nil, configErrorf("%q is not a boolean, as --type bool requires; write true or false", text)
	}
	return nil, configErrorf("the type %q is not known; write string, int, bool or float", typ)
}

var secretName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)passwd|pass|password|pwd|secret|token`) })

// LooksSecret reports whether a setting looks like a secret that is about to be stored in plain text: its name suggests
// it, and its value looks random (state.md 6.6).
func LooksSecret(k Key, text string) bool {
	return secretName().MatchString(k.Name) && looksRandom(text)
}

// looksRandom reports roughly whether a text is random: it has many different characters, and classes of characters
// alternate.
func looksRandom(text string) bool {
	const enough = 10
	if len(text) < enough || strings.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	different := map[rune]bool{}
	changes, last := 0, -1
	for _, r := range text[:min(len(text), 32)] {
		different[r] = true
		if c := characterClass(r); c != last {
			changes, last = changes+1, c
		}
	}
	return len(different) >= enough*6/10 && changes >= 4
}

func characterClass(r rune) int {
	switch {
	case unicode.IsDigit(r):
		return 0
	case unicode.IsUpper(r):
		return 1
	case unicode.IsLetter(r):
		return 2
	}
	return 3
}
