// Package seal encrypts what Temporal keeps: arguments, results, heartbeats, signals, queries and messages of failures.
//
// It does not decide what is put there. No secret, token or state is (see package run); sealing protects names, settings, outputs and logs from who
// runs the server.
//
// Invariant: what was not sealed with the key is an error, so nobody without the key can make a worker do anything.
package seal
