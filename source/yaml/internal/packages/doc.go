// Package packages finds the packages that a YAML program may use: those of lock files (protocol.md 11.10), and their schemas, which it
// gets from their providers.
//
// It does not determine which of them the program uses.
//
// Invariant: the schema of a provider is requested once, and the provider ends as soon as it has answered.
package packages
