// Package direct carries out single operations of a provider, without a program and without a state.
//
// It reads the schema of a package, inputs from files and flags, and calls the provider as the engine would: Check before Create, Read before
// Update and Delete. It decides nothing about other resources, and records nothing.
//
// Invariant: a value that the schema, the provider or the user calls secret is marked as secret in everything that the package returns.
package direct
