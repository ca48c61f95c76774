// Package tls is the built-in provider of the package "tls": keys, certificates and requests for them, made with the
// standard library.
//
// It has the shapes, defaults and rules of the public package of that name, so that a stack can change between the two.
//
// Invariant: private keys are secret in all outputs.
package tls
