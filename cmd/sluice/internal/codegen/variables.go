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
	reserved []string
	// spell makes an allowed variable of any name. It does not change a name that is allowed.
	spell func(name string) string
	// packageNames returns the names under which a program imports a package, or is nil if packages have no names.
	packageNames func(pkg string) []string
}

// variablesOf gives every resource with a name a variable that the language allows and that is not yet used.
func variablesOf(p Program, n naming) map[urn.URN]string {
	out := map[urn.URN]string{}
	taken := map[string]bool{}
	for _, word := range n.reserved {
		taken[word] = true
	}
	if n.packageNames != nil {
		for _, r := range p.Resources {
			pkg := r.Type.Package()
			if r.Type.IsProvider() {
				pkg = r.Type.ProviderPackage()
			}
			for _, name := range n.packageNames(pkg) {
				taken[name] = true
			}
		}
	}
	assign := func(u urn.URN, name string) {
		name = n.spell(name)
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

// words keeps the characters of a name that are allowed in references inside texts.
func words(name string) string { return strings.Map(wordRune, name) }

// wordRune keeps only characters that are allowed in references inside texts.
func wordRune(r rune) rune {
	if r == '_' || r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return r
	}
	return '_'
}
