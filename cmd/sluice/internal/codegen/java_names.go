package codegen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"

	"github.com/sluice-iac/sluice/urn"
)

// javaKeywords are the words that cannot be identifiers of a Java program.
var javaKeywords = strings.Fields(`abstract assert boolean break byte case catch char class const continue default do double else
	enum extends final finally float for if goto implements import instanceof int interface long native new package private
	protected public return short static strictfp super switch synchronized this throw throws transient try void volatile while
	_ false null true var`)

// javaReserved are the words that cannot be variables of a Java program, the names that the generated code uses, and the first parts of
// the names of packages.
var javaReserved = append(strings.Fields(`ctx config args com io org net dev java`), javaKeywords...)

// javaMethods are the methods that every object has, and that of the generated classes. SDKs do not use these names for properties.
var javaMethods = strings.Fields(`notify notifyAll toString clone equals hashCode getClass wait finalize builder`)

// javaLang are the classes of java.lang that programs often use. Classes of these names are written with their package.
var javaLang = strings.Fields(`Boolean Byte Character Class Double Enum Error Exception Float Integer Iterable Long Math Module Number
	Object Override Package Process Record Runnable Runtime Short String System Thread Throwable Void`)

// javaVariable makes a variable from a name: "my-bucket.v2" becomes myBucketV2. It keeps a name that is an identifier, apart from a capital
// letter at its beginning: a class would be hidden by it.
func javaVariable(name string) string {
	name = identifier(name)
	return strings.ToLower(name[:1]) + name[1:]
}

// javaIdentifier makes a name an identifier as the generators of SDKs do.
func javaIdentifier(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '-':
			continue
		case r == '$' || r == '_' || unicode.IsLetter(r):
		case unicode.IsDigit(r):
			if i == 0 {
				b.WriteByte('_')
			}
		default:
			r = '_'
		}
		b.WriteRune(r)
	}
	if text := b.String(); !slices.Contains(javaKeywords, text) {
		return text
	}
	return b.String() + "_"
}

// javaSetter returns the method of a builder for a property.
func javaSetter(property string) string {
	name := javaIdentifier(property)
	if slices.Contains(javaMethods, name) {
		return name + "_"
	}
	return name
}

// digits are the names that SDKs give to members of enums that consist of one character.
var digits = map[string]string{
	"*": "Asterisk", "0": "Zero", "1": "One", "2": "Two", "3": "Three", "4": "Four", "5": "Five", "6": "Six", "7": "Seven", "8": "Eight", "9": "Nine",
}

var underscores = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`_+`) })

// javaMember returns the name of a member of an enum. It is "" if a Java SDK cannot have that member.
func javaMember(m enumMember) string {
	name := m.name
	if long := digits[name]; long != "" {
		name = long
	}
	name = underscores().ReplaceAllString(title(javaIdentifier(name)), "_")
	if name == "_" {
		return ""
	}
	return name
}

// The parts of a package in which SDKs have their classes.
const (
	javaInputs = "inputs"
	javaEnums  = "enums"
)

// javaPackage returns the Java package of a token. part is javaInputs, javaEnums, or "" for resources.
func javaPackage(s *Schema, t urn.Type, part string) string {
	var info struct {
		BasePackage string
		Packages    map[string]string
	}
	s.language("java", &info)
	renamed := func(name string) string {
		if other, ok := info.Packages[name]; ok {
			return other
		}
		return name
	}
	base := strings.TrimSuffix(info.BasePackage, ".")
	if base == "" {
		namespace := s.Namespace
		if namespace == "" {
			namespace = "pulumi"
		}
		base = "com." + namespace
	}
	if s.Name == "pulumi" {
		return "com.pulumi.resources" // stack references are part of the SDK itself
	}
	name := s.Name
	if part != "" {
		name = t.Package()
	}
	names := []string{base, renamed(name)}
	if module := s.module(t); module != "" {
		names = append(names, renamed(module))
	}
	if part != "" {
		names = append(names, part)
	}
	all := strings.Split(strings.Join(names, "."), ".")
	for i, name := range all {
		all[i] = javaIdentifier(name)
	}
	return strings.Join(all, ".")
}

// javaClass returns the simple name of the class of a resource, an object type or an enum.
func javaClass(t urn.Type) string {
	if t.IsProvider() {
		return "Provider"
	}
	return javaIdentifier(title(nameOfToken(t)))
}

// longestJavaString is a number of characters that fits into a constant of a class file, which has room for 65535 bytes.
const longestJavaString = 16000

// javaString formats a string. Characters outside of ASCII are escaped, because the compiler may read the file in any encoding.
func javaString(s string) string {
	units := utf16.Encode([]rune(s))
	if len(units) <= longestJavaString {
		return javaLiteral(units)
	}
	var parts []string
	for part := range slices.Chunk(units, longestJavaString) {
		parts = append(parts, javaLiteral(part))
	}
	return `String.join("", ` + strings.Join(parts, ", ") + ")"
}

func javaLiteral(units []uint16) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, u := range units {
		switch {
		case u == '\n':
			b.WriteString(`\n`)
		case u == '\r':
			b.WriteString(`\r`)
		case u == '\t':
			b.WriteString(`\t`)
		case u == '"' || u == '\\':
			b.WriteByte('\\')
			b.WriteByte(byte(u))
		case u < ' ' || u > '~':
			fmt.Fprintf(&b, `\u%04x`, u)
		default:
			b.WriteByte(byte(u))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// javaComment formats notes as comments. A backslash may begin an escape even in a comment.
func javaComment(notes []string) string {
	return strings.ReplaceAll(comment("//", notes), `\`, `\\`)
}
