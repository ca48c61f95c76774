// Package sealing opens and encrypts the secrets of one stack, with the manager of an operation or else the provider that the
// state names. Package secrets has the encryption.
//
// Invariant: a provider that cannot be used stops only the work that needs it: ciphertexts in a state can still be written.
package sealing
