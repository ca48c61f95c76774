package urn

import "strings"

// RootStack returns the URN of the root component of a stack. It has no parent and is named "<project>-<stack>"
// (steps.md 2.1).
func RootStack(stack, project string) URN {
	return New(stack, project, "", RootStackType, project+"-"+stack)
}

// IsRootStack reports whether u names the root component of a stack.
func (u URN) IsRootStack() bool { return u.QualifiedType() == RootStackType }

// IsDefaultProvider reports whether u names a provider that the engine makes. Its name shows it (steps.md 1.6).
func (u URN) IsDefaultProvider() bool {
	return u.Type().IsProvider() && strings.HasPrefix(u.Name(), "default")
}

// Child returns the URN of a resource of the given type and name whose parent is u, in the stack and project of u. A
// child of the root stack has no parent part in its qualified type.
func (u URN) Child(typ Type, name string) URN {
	return New(u.Stack(), u.Project(), u.QualifiedType(), typ, name)
}

// Under returns u as a child of parent: stack, project, own type and name stay, the qualified type is derived anew
// (steps.md 2.6, state.md 3.5). An empty parent makes u a resource without one. An invalid u stays as it is.
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
