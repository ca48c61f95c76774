// Package shape measures how code is divided: which files of a package need each other, how large its types are, and how
// much the root package exports. It reads type-checked source, as it is built for this platform. Tests and generated
// files do not count.
//
// It is for the program internal/architecture/cmd/shape, which prints the measures, and for the test in
// internal/architecture, which holds them to the limits. It does not judge what code means.
//
// File A of a package needs file B if the code of A refers to a package-level object, a method or a field that B declares.
// Files that need each other, directly or through others, are a knot: none of them can be understood or moved without the
// rest.
//
// Invariant: the measures depend on the source alone, in whatever order it is read.
package shape
