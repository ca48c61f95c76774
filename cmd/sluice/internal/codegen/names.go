package codegen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-iac/sluice/urn"
)

// variablesOf gives everything that has a name a variable that the language allows and nothing else has.
func variablesOf(p Program, l language) map[urn.URN]string {
	out := map[urn.URN]string{}
	taken := map[string]bool{}
	for _, word := range l.reserved {
		taken[word] = true
	}
	if l.identifiers {
		for _, r := range p.Resources {
			pkg := r.Type.Package()
			if r.Type.IsProvider() {
				pkg = r.Type.ProviderPackage()
			}
			taken[identifier(pkg)], taken[identifierOfPackage(pkg)] = true, true // what it is imported as
		}
	}
	assign := func(u urn.URN, name string) {
		if l.identifiers {
			name = identifier(name)
		} else {
			name = strings.Map(wordRune, name)
		}
		unused := name
		for i := 2; taken[unused]; i++ {
			unused = fmt.Sprintf("%s%d", name, i)
		}
		taken[unused] = true
		out[u] = unused
	}
	// Those that the program has already come first: their names are not ours to change.
	declared := map[urn.URN]bool{}
	for _, r := range p.Resources {
		declared[r.URN] = true
	}
	var others []urn.URN
	for u := range p.Names {
		if !declared[u] {
			others = append(others, u)
		}
	}
	slices.Sort(others)
	for _, u := range others {
		assign(u, p.Names[u])
	}
	for _, r := range p.Resources {
		name := p.Names[r.URN]
		if name == "" {
			name = r.URN.Name()
		}
		assign(r.URN, name)
	}
	return out
}

// wordRune keeps what references in texts may consist of.
func wordRune(r rune) rune {
	if r == '_' || r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return r
	}
	return '_'
}

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
