// Package server runs a Temporal server for one fleet on this machine, and finds the running one.
//
// The server keeps its data in a folder of the fleet and is reachable through loopback only. It ends by itself when no command and
// no worker has used it for a moment.
//
// It is independent of stacks.
//
// Invariant: at most one server uses a folder; the lock of the folder decides which.
package server
