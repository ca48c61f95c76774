// Package secrets encrypts and decrypts the secrets in configuration and state ([state.md 5]).
//
// It reads no files, asks no questions and reads no environment: the caller provides passphrases through a [Source].
// Package property defines the encrypted values.
//
// Invariant: a manager that cannot decrypt never loses a ciphertext: its state is kept as it was, and every use of the key
// is an error.
//
// [state.md 5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#5-secrets
package secrets
