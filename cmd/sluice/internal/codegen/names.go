package codegen

import (
	"strings"
	"unicode"

	"github.com/sluice-iac/sluice/urn"
)

// identifier makes a camel-case identifier of a name: "my-bucket.v2" is myBucketV2. It is valid in all languages.
func identifier(name string) string {
	var b strings.Builder
	raise := false
	for _, r := range name {
		switch {
		case r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if b.Len() == 0 && unicode.IsDigit(r) {
				b.WriteByte('r')
			}
			if raise && b.Len() > 0 {
				r = unicode.ToUpper(r)
			}
			b.WriteRune(r)
			raise = false
		default:
			raise = true
		}
	}
	if b.Len() == 0 {
		return "resource"
	}
	text := b.String()
	if text == "_" {
		return "resource"
	}
	return text
}

// identifierOfPackage is the name that a package is imported under.
func identifierOfPackage(name string) string {
	return strings.ReplaceAll(name, "-", "_")
}

// title makes the first letter a capital.
func title(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// nameOfToken is the last part of a token.
func nameOfToken(t urn.Type) string {
	s := string(t)
	return s[strings.LastIndexByte(s, ':')+1:]
}

// moduleOfToken is the middle part of a token.
func moduleOfToken(t urn.Type) string {
	parts := strings.Split(string(t), ":")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}
