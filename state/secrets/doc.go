// Package secrets encrypts and decrypts what is secret in configuration and state (state.md section 5).
//
// It reads no files, asks no questions and looks at no environment: the caller says where a passphrase comes from, through
// a [Source]. What is encrypted is package property's business.
//
// Invariant: a manager that cannot decrypt never loses a ciphertext: its state is kept as it was, and everything that
// would need the key is an error.
package secrets
