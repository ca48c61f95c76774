package importfile

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/urn"
)

// Names are the variables of resources in generated code.
type Names map[urn.URN]string

// nameOfType returns the last part of a type with a capital first letter. It is appended to a name that is taken.
func nameOfType(t urn.Type) string {
	name := string(t)
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == ':' {
			name = name[i+1:]
			break
		}
	}
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return name
	}
	return string(unicode.ToUpper(first)) + name[size:]
}

// unusedName returns name with its type appended and, if that is taken too, a number (protocol.md 10.9).
func unusedName(name string, t urn.Type, isTaken func(string) bool) string {
	base := name + nameOfType(t)
	unused := base
	for i := 2; isTaken(unused); i++ {
		unused = fmt.Sprintf("%s%d", base, i)
	}
	return unused
}
