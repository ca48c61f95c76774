// Package functions has the functions of the language (protocol.md 11.7), as functions of values: what is unknown, secret or
// depends on resources in an argument is so in the result.
//
// It does not handle expressions and makes no calls; fn::stackReference, which calls the engine, is not here.
//
// Invariant: a function whose arguments are not all known returns an unknown value, not a mistake.
package functions
