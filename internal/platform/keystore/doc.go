// Package keystore keeps a key of the user in the key store of the operating system: the Secret Service of Linux and BSD, the keychain of
// macOS, the Credential Manager of Windows.
//
// It encrypts nothing itself.
//
// Invariant: it never makes a new key unless the store has answered that there is none, because data that is encrypted with the present key
// would be lost.
package keystore
