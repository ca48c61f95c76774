package codegen

import (
	"strings"
	"unicode"
)

// identifier makes a camel-case identifier from a name: "my-bucket.v2" becomes myBucketV2. It is valid in all
// languages.
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

// title capitalizes the first letter.
func title(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// importNames returns the names under which TypeScript and Go programs import a package.
func importNames(pkg string) []string { return []string{identifier(pkg), identifierOfPackage(pkg)} }

// identifierOfPackage returns the name under which a package is imported.
func identifierOfPackage(name string) string {
	return strings.ReplaceAll(name, "-", "_")
}
