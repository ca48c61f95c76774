// Package property holds the values that resources are made of: scalars, arrays, objects, assets, references, unknowns,
// secrets and outputs; how they are compared, addressed by paths and hashed; and their two encodings, the one that
// travels over gRPC ([MarshalStruct]) and the one that rests in state files ([AppendState]).
//
// It is not a schema: it knows no types of resources and converts nothing. It stores no secret key; encryption is the
// caller's, behind [Encrypter] and [Decrypter].
//
// Its one invariant: a [Value] never changes once it has been made, so it may be shared between goroutines without a
// lock, and every function that "changes" a value returns a new one that shares the unchanged parts.
package property
