// Package archives lets a rebuilt archive file with the same contents count as the recorded one: other times, another order or another compression of
// its entries are no change.
//
// It is a stage in the engine's pipeline that gives the archive the recorded hash, before anything is checked or compared. It changes no hash
// algorithm, and nothing in states: what it knows of recorded archives is kept elsewhere by its caller.
//
// Invariant: an archive gets a recorded hash only if the file that this hash was computed from had the same contents.
package archives
