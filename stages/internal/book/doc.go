// Package book holds what a run knows about states: what was recorded before it, which names mean what, what was decided
// about each of them, and what has become of it.
//
// Each part has one writer: lookup writes the names, build the decisions, execute the results. Any stage may read. Only those that have the
// [DecisionsWriter] can write decisions; for the other parts that is a convention so far. Each part has a lock of its own.
//
// The base of a run is made once, after the phase that may change what is recorded; that phase works on books of its own
// (stages/standard/prepare.go). What is known of recorded states is kept by their position in the base.
package book
