package codegen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-iac/sluice/urn"
)

// variablesOf gives everything that has a name a variable that nothing else has. With identifiers set it is an identifier that
// is not reserved.
func variablesOf(p Program, reserved []string, identifiers bool) map[urn.URN]string {
	out := map[urn.URN]string{}
	taken := map[string]bool{}
	for _, word := range reserved {
		taken[word] = true
	}
	if identifiers {
		for _, r := range p.Resources {
			pkg := r.Type.Package()
			if r.Type.IsProvider() {
				pkg = r.Type.ProviderPackage()
			}
			taken[identifier(pkg)], taken[identifierOfPackage(pkg)] = true, true // what it is imported as
		}
	}
	assign := func(u urn.URN, name string) {
		if identifiers {
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
