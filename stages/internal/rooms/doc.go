// Package rooms holds the data that the stages of a run share: what was recorded before it, which names mean what, what was decided about each
// of them, and what has become of it.
//
// Each kind of data is a room with a reader and a writer, which are values of different types. [Rooms] has the readers, and any stage may have
// it. The writers go to the constructors of those that own the rooms (stages/standard/run.go): lookup names, build and the end phase decide, the
// executor of steps has the results. Invariant: a room has a lock of its own, which is never held across a call of another room.
//
// The base of a run is made once, after the phase that may change what is recorded; that phase works on rooms of its own
// (stages/standard/prepare.go). Data about recorded states is kept by their position in the base.
package rooms
