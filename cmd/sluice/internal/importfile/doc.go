// Package importfile reads and writes the files that say what `sluice import` takes under management (protocol.md 10.9),
// and turns them into requests.
//
// It imports nothing itself and asks no provider.
//
// Invariant: what [File.Requests] returns without an error has names for everything it refers to.
package importfile
