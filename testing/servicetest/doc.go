// Package servicetest is a server with the interface of Pulumi's service, for tests. It keeps everything in memory, and with [Restart] also in a file, so that
// it can be killed.
//
// It is strict: a call that the service would not expect at that moment, with a wrong token, or with an unknown member is refused, and recorded in
// [Server.Violations]. A [Fault] makes calls fail on purpose.
//
// Invariant: except for tokens, times and ciphertexts, replies depend on the calls alone.
package servicetest
