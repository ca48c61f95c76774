// Package loader is the gRPC Loader service: language plugins, converters and providers get the schemas of packages from it; and the
// PackageResolver service: providers are told what a package is that somebody has written (protocol.md 5.3).
//
// Of schemas it reads what they say about the package as a whole, and nothing else.
//
// Invariant: a package is asked for once in the life of a Loader server, unless it could not answer.
package loader
