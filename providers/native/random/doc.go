// Package random is the built-in provider of the package "random": identifiers, strings, passwords and choices that are
// made once, kept in the state and made anew when their inputs change.
//
// It has the shapes, defaults and import formats of the public package of that name, so that a stack can change between
// the two. A seed gives the same choices as there.
//
// Invariant: nothing but seeded integers and shuffles, which say so, comes from anything but crypto/rand.
package random
