// Package functions has the functions of the language (protocol.md 11.7), as functions of values: what is unknown, secret or
// depends on resources in an argument is so in the result.
//
// It knows no expressions and makes no calls; fn::stackReference, which asks the engine, is not here.
//
// Invariant: a function that is not told everything it needs returns an unknown value, not a mistake.
package functions
