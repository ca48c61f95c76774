package urn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// URN is the unique name of a resource within a stack ([steps.md 2.1]):
//
//	urn:pulumi:<stack>::<project>::[<qualified type of parent>$]<type>::<name>
//
// The zero value means "no resource". A URN that came from outside must pass [Parse] before its parts are used; the
// accessors of an invalid URN return empty strings and never panic.
//
// [steps.md 2.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#21-form
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

// Parse returns s as a URN, or an error that wraps [ErrInvalid] and says which form a URN has. Parts may be empty: states have such names.
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

// Strings returns the URNs as strings, in their order; nil for none.
func Strings(us []URN) []string {
	var out []string
	for _, u := range us {
		out = append(out, string(u))
	}
	return out
}

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

// Short returns a type as displays show it: without the end of its module if that repeats the name, so that "aws:s3/bucket:Bucket" is
// "aws:s3:Bucket".
func (t Type) Short() string {
	parts := strings.Split(string(t), ":")
	if len(parts) == 3 {
		if module, tail, ok := strings.Cut(parts[1], "/"); ok && strings.EqualFold(tail, parts[2]) {
			parts[1] = module
		}
	}
	return strings.Join(parts, ":")
}

// IsCalled reports whether text is a usual name of the type: one of [Type.Forms], or the last part alone.
func (t Type) IsCalled(text string) bool {
	if text == "" {
		return false
	}
	if text == string(t) || slices.Contains(t.Forms(), text) {
		return true
	}
	parts := strings.Split(string(t), ":")
	return len(parts) == 3 && text == parts[2]
}

// Forms returns the ways to write a type with its package: as states have it, shorter (see [Type.Short]), and without the module "index". Some may be
// equal.
func (t Type) Forms() []string {
	short := t.Short()
	return []string{string(t), short, strings.Replace(short, ":index:", ":", 1)}
}

// CheckPackage returns a *[NameError] unless the package of t has a valid name: [Type.ProviderPackage] for a provider type,
// the first part of other types.
func (t Type) CheckPackage() error {
	pkg, _, _ := strings.Cut(string(t), ":")
	if provided, is := strings.CutPrefix(string(t), providerStem); is {
		pkg = provided
	}
	return CheckPackageName("package", pkg)
}

// IsCalled reports whether text is a usual name of the resource: its URN, its name, or its type and name. The type may be in any form of
// [Type.IsCalled], with or without the types of its parents. Between type and name is "::" or a space, or the name is in parentheses.
func (u URN) IsCalled(text string) bool {
	name := u.Name()
	if text == string(u) || text == name {
		return true
	}
	for _, form := range []struct{ before, after string }{{"::", ""}, {" ", ""}, {" (", ")"}} {
		typ, ok := strings.CutSuffix(text, form.before+name+form.after)
		if !ok || typ == "" {
			continue
		}
		qualified := u.QualifiedType()
		if u.Type().IsCalled(typ) || string(qualified) == typ || strings.HasSuffix(string(qualified), "$"+typ) {
			return true
		}
	}
	return false
}

// Called returns the URNs of a list that text names, each once, in the order of the list: the URN that equals text, else those with text
// as their name, else those for which [URN.IsCalled] holds.
func Called(list []URN, text string) []URN {
	var named, called []URN
	for _, u := range list {
		switch {
		case string(u) == text:
			return []URN{u}
		case u.Name() == text && !slices.Contains(named, u):
			named = append(named, u)
		case u.IsCalled(text) && !slices.Contains(called, u):
			called = append(called, u)
		}
	}
	if named != nil {
		return named
	}
	return called
}

// RootStack returns the URN of the root component of a stack. It has no parent and is named "<project>-<stack>"
// ([steps.md 2.1]).
//
// [steps.md 2.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#21-form
func RootStack(stack, project string) URN {
	return New(stack, project, "", RootStackType, project+"-"+stack)
}

// IsRootStack reports whether u names the root component of a stack.
func (u URN) IsRootStack() bool { return u.QualifiedType() == RootStackType }

// IsDefaultProvider reports whether u names a provider that the engine makes. Its name shows it ([steps.md 1.6]).
//
// [steps.md 1.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#16-default-providers
func (u URN) IsDefaultProvider() bool {
	return u.Type().IsProvider() && strings.HasPrefix(u.Name(), "default")
}

// Child returns the URN of a resource of the given type and name whose parent is u, in the stack and project of u, which must be valid. A
// child of the root stack has no parent part in its qualified type.
func (u URN) Child(typ Type, name string) URN {
	return New(u.Stack(), u.Project(), u.QualifiedType(), typ, name)
}

// Under returns u as a child of parent: stack, project, own type and name stay, the qualified type is derived anew
// ([steps.md 2.6], [state.md 3.5]). An empty parent makes u a resource without one. An invalid u stays as it is.
//
// [state.md 3.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#35-aliases
// [steps.md 2.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#26-names-when-the-state-is-written
func (u URN) Under(parent URN) URN {
	p, ok := u.split()
	if !ok {
		return u
	}
	return New(p[0], p[1], parent.QualifiedType(), u.Type(), p[3])
}

// Renamed returns u with another name. An invalid u stays as it is.
func (u URN) Renamed(name string) URN { return u.withPart(3, name) }

// WithStack returns u in another stack. The name of the root component contains the name of its stack; use [RootStack]
// for it. An invalid u stays as it is.
func (u URN) WithStack(stack string) URN { return u.withPart(0, stack) }

// WithProject returns u in another project, with the same restriction as [URN.WithStack].
func (u URN) WithProject(project string) URN { return u.withPart(1, project) }

func (u URN) withPart(i int, s string) URN {
	p, ok := u.split()
	if !ok {
		return u
	}
	p[i] = s
	return URN(prefix + p[0] + separator + p[1] + separator + p[2] + separator + p[3])
}
