// Package sealing opens and encrypts the secrets of one stack, with the manager that an operation brings or else the provider
// that the state names. How secrets are encrypted is the business of package secrets.
//
// Invariant: a provider that cannot be used stops only what needs it: ciphertexts that a state holds can still be written.
package sealing
