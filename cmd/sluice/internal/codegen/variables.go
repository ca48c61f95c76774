package codegen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-iac/sluice/urn"
)

// naming defines the variables that a language allows.
type naming struct {
	reserved    []string
	identifiers bool // variables must be identifiers
}

// variablesOf gives every resource with a name a variable that the language allows and that is not yet used.
func variablesOf(p Program, n naming) map[urn.URN]string {
	out := map[urn.URN]string{}
	taken := map[string]bool{}
	for _, word := range n.reserved {
		taken[word] = true
	}
	if n.identifiers {
		for _, r := range p.Resources {
			pkg := r.Type.Package()
			if r.Type.IsProvider() {
				pkg = r.Type.ProviderPackage()
			}
			taken[identifier(pkg)], taken[identifierOfPackage(pkg)] = true, true // the names of the imports
		}
	}
	assign := func(u urn.URN, name string) {
		if n.identifiers {
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
	// Variables that the program already declares come first, because their names must not change.
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

// wordRune keeps only characters that are allowed in references inside texts.
func wordRune(r rune) rune {
	if r == '_' || r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return r
	}
	return '_'
}
