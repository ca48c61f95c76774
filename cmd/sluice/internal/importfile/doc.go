// Package importfile reads and writes the files that list resources for `sluice import` (protocol.md 10.9), and
// converts them to requests.
//
// It imports nothing itself and calls no provider.
//
// Invariant: if [File.Requests] returns no error, its result has a name for everything it refers to.
package importfile
