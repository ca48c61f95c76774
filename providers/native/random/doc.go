// Package random is the built-in provider of the package "random": identifiers, strings, passwords and choices that are
// made once, kept in the state and made again when their inputs change.
//
// It has the shapes, defaults and import formats of the public package of that name, so that a stack can change between
// the two. A seed gives the same choices as there.
//
// Invariant: everything comes from crypto/rand, except seeded integers and shuffles, whose descriptions mention it.
package random
