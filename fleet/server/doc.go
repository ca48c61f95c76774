// Package server runs a Temporal server for one fleet on this machine, and finds the running one.
//
// The server keeps its data in a folder of the fleet and is reached through loopback only. It ends by itself when no command and no
// worker has used it for a moment.
//
// It knows nothing of stacks.
//
// Invariant: at most one server works on a folder; the lock of the folder decides which.
package server
