// Package codegen writes the declarations of recorded resources in the languages of programs: what people copy into their
// program after an import (protocol.md 10.9). It is told the schemas of packages, and does without where there is none.
//
// It is not a general translator: it knows literals, references to other declared resources, assets and secrets, and
// nothing that computes.
//
// Invariant: no secret value is in the text, unless it is asked for; the same resources, names and schemas give the same
// text.
package codegen
