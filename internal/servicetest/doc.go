// Package servicetest is a server with the interface of Pulumi's service, for tests. It keeps everything in memory, and with [Restart] also in a file, so that
// it can be killed.
//
// It is strict: a call that the service would not expect at that moment, with a token that is not for it, or with a member that it
// does not know is refused, and noted in [Server.Violations]. A [Fault] makes calls fail on purpose.
//
// Invariant: what it answers depends on the calls alone, but for tokens, times and ciphertexts.
package servicetest
