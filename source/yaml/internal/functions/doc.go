// Package functions has the functions of the language (protocol.md 11.7), as functions of values. Results keep the marks of the arguments:
// unknown, secret, and the resources that they depend on.
//
// It does not handle expressions and makes no calls; fn::stackReference, which calls the engine, is not here.
//
// Invariant: a function with unknown arguments returns an unknown value, not a mistake.
package functions
