// Package loader is the gRPC Loader service: language plugins, converters and providers get the schemas of packages from it
// (protocol.md 5.3).
//
// It does not read schemas.
//
// Invariant: a package is asked for once in the life of a server, unless it could not answer.
package loader
