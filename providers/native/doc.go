// Package native is the common part of the built-in providers: a package is described by its resources
// and functions ([Package]), each with the names and types of its properties, and [New] makes a provider from it. The
// provider checks inputs against the description, compares old and new ones by it, keeps secrets secret, returns
// unknowns in previews, and writes the package's schema.
//
// It holds no provider of its own; each is in a folder below. The provider of the package "pulumi", which reads the
// engine's own state, is in providers/builtin.
//
// Invariant: the arguments of a description's function have been checked, have their defaults, are known and are not
// wrapped in secrets; its results are made secret here.
package native
