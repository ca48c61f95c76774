// Package native is the common part of the built-in providers: a package is described by its resources
// and functions ([Package]), each with the names and types of its properties, and [New] makes a provider from it. The
// provider checks inputs against the description, compares old and new ones by it, keeps secrets secret, returns
// unknowns in previews, and writes the package's schema.
//
// It holds no provider of its own; each is in a folder below. The provider of the package "pulumi", which reads the
// engine's own state, is in providers/builtin.
//
// Invariant: what a function of a description gets has been checked and has its defaults, is known and is not wrapped in
// secrets; what it returns is made secret here.
package native
