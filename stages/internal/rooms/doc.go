// Package rooms holds the data that the stages of a run share: the recorded states, the names, the decisions, and the results and
// outcomes of the steps.
//
// Each kind of data is a room with a reader and a writer, which are values of different types. [Rooms] has the readers, and any
// stage may have it. The writers go to the constructors of the owners (stages/standard/run.go): lookup writes the names, build and
// the end phase write the decisions, the step executor writes the results. Invariant: a room has a lock of its own, which is never
// held across a call of another room.
//
// The base of a run is made once, after the phase that may change the recorded state; that phase works on rooms of its own
// (stages/standard/prepare.go). Data about recorded states is kept by their position in the base.
package rooms
