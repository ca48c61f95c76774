// Package codegen writes the declarations of recorded resources in the languages of programs. Users copy them into
// their programs after an import (protocol.md 10.9). It uses the schemas of packages, and also works without them.
//
// It is not a general translator: it supports literals, references to other declared resources, assets and secrets, but
// no computations.
//
// Invariant: the text contains no secret value, unless secrets are requested; the same resources, names and schemas
// give the same text.
package codegen
