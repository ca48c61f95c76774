// Package property implements the values of resource properties: scalars, arrays, objects, assets, references, unknowns,
// secrets and outputs. It compares and hashes values, and addresses their parts by paths. It has two encodings: one for
// gRPC ([MarshalStruct]) and one for state files ([AppendState]).
//
// The package has no schemas: it has no types of resources and converts nothing. It stores no keys: callers encrypt
// secrets through [Encrypter] and [Decrypter].
//
// Invariant: a [Value] never changes after its creation, so goroutines may share it without a lock. Every function that
// "changes" a value returns a new one, which shares the unchanged parts.
package property
