// Package seal encrypts the data that Temporal stores: arguments, results, heartbeats, signals, queries and messages of failures.
//
// It does not select that data. Secrets, tokens and states are never part of it (see package run). Sealing protects names, settings, outputs and logs
// from the operator of the server.
//
// Invariant: data that was not sealed with the key is an error, so only key holders can make a worker act.
package seal
