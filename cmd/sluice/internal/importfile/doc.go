// Package importfile reads and writes the files that list what `sluice import` imports (protocol.md 10.9),
// and turns them into requests.
//
// It imports nothing itself and asks no provider.
//
// Invariant: what [File.Requests] returns without an error has names for everything it refers to.
package importfile
