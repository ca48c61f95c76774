// Package loader has two gRPC services ([protocol.md 5.3]): Loader serves the schemas of packages to language plugins, converters and
// providers. PackageResolver gives providers the package that a package source stands for.
//
// It reads only the part of a schema that describes the package as a whole.
//
// Invariant: a Loader server requests the schema of a package once, unless the request fails.
//
// [protocol.md 5.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#53-schemas-and-mappings
package loader
