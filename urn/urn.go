package urn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// URN is the unique name of a resource within a stack (steps.md 2.1):
//
//	urn:pulumi:<stack>::<project>::[<qualified type of parent>$]<type>::<name>
//
// The zero value means "no resource". A URN that came from outside must pass [Parse] before its parts are used; the
// accessors of an invalid URN return empty strings and never panic.
type URN string

// Type is a type token such as "aws:s3/bucket:Bucket", or a qualified one: the tokens of all ancestors and the
// resource itself joined by "$".
type Type string

// RootStackType is the type of the root component of every stack.
const RootStackType Type = "pulumi:pulumi:Stack"

const (
	prefix        = "urn:pulumi:"
	separator     = "::"
	typeSeparator = "$"
	providerStem  = "pulumi:providers:"
)

// ErrInvalid is wrapped by every error of [Parse].
var ErrInvalid = errors.New("invalid URN")

// New builds the URN of a resource. parent is the qualified type of the parent, or "" for a resource without a parent
// or whose parent is the root stack.
func New(stack, project string, parent, typ Type, name string) URN {
	t := string(typ)
	if parent != "" && parent != RootStackType {
		t = string(parent) + typeSeparator + t
	}
	return URN(prefix + stack + separator + project + separator + t + separator + name)
}

// Parse returns s as a URN, or an error that wraps [ErrInvalid] and names the missing part.
func Parse(s string) (URN, error) {
	if s == "" {
		return "", fmt.Errorf("%w: empty", ErrInvalid)
	}
	if !strings.HasPrefix(s, prefix) {
		return "", fmt.Errorf("%w %q: it must begin with %q", ErrInvalid, s, prefix)
	}
	if !URN(s).IsValid() {
		return "", fmt.Errorf("%w %q: it must have the form %s<stack>::<project>::<type>::<name>", ErrInvalid, s, prefix)
	}
	return URN(s), nil
}

// IsValid reports whether u has the form of a URN.
func (u URN) IsValid() bool {
	rest, found := strings.CutPrefix(string(u), prefix)
	return found && strings.Count(rest, separator) >= 3
}

// split returns the four parts; the name is the whole remainder and may itself contain "::".
func (u URN) split() (parts [4]string, ok bool) {
	rest, found := strings.CutPrefix(string(u), prefix)
	if !found {
		return parts, false
	}
	for i := range 3 {
		part, tail, found := strings.Cut(rest, separator)
		if !found {
			return [4]string{}, false
		}
		parts[i], rest = part, tail
	}
	parts[3] = rest
	return parts, true
}

func (u URN) part(i int) string {
	parts, _ := u.split()
	return parts[i]
}

// Stack returns the name of the stack.
func (u URN) Stack() string { return u.part(0) }

// Project returns the name of the project.
func (u URN) Project() string { return u.part(1) }

// QualifiedType returns the types of all ancestors (the root stack left out) and of the resource, joined by "$".
func (u URN) QualifiedType() Type { return Type(u.part(2)) }

// Type returns the resource's own type: the text after the last "$" of the qualified type.
func (u URN) Type() Type {
	t := u.part(2)
	return Type(t[strings.LastIndex(t, typeSeparator)+1:])
}

// Name returns the name that the program gave the resource.
func (u URN) Name() string { return u.part(3) }

// ShellQuoted returns the URN as a word for a POSIX shell: URNs have "$" in them, and may have quotes.
func (u URN) ShellQuoted() string { return "'" + strings.ReplaceAll(string(u), "'", `'"'"'`) + "'" }

// SortedSet returns the distinct URNs in ascending order, nil for none: an order on the wire is arbitrary and must not reach a
// state.
func SortedSet(us []URN) []URN {
	if len(us) == 0 {
		return nil
	}
	out := slices.Clone(us)
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

// Package returns the text before the first ":", which names the package that defines the type.
func (t Type) Package() string {
	pkg, _, found := strings.Cut(string(t), ":")
	if !found {
		return ""
	}
	return pkg
}

// IsToken reports whether t is a full three-part token "package:module:Type" as custom and remote resources need.
func (t Type) IsToken() bool {
	pkg, rest, _ := strings.Cut(string(t), ":")
	_, name, found := strings.Cut(rest, ":")
	return found && pkg != "" && name != "" && !strings.Contains(name, ":")
}

// IsProvider reports whether t is the type of a provider resource, "pulumi:providers:<package>".
func (t Type) IsProvider() bool {
	pkg, found := strings.CutPrefix(string(t), providerStem)
	return found && pkg != ""
}

// ProviderPackage returns the package that a provider type provides, or "" for other types.
func (t Type) ProviderPackage() string {
	if !t.IsProvider() {
		return ""
	}
	return strings.TrimPrefix(string(t), providerStem)
}

// ProviderType returns the type of the provider resources of a package.
func ProviderType(pkg string) Type { return Type(providerStem + pkg) }
