// Package execute orders the tasks of a run. One actor owns a ready set of everything that is to be done: the steps of
// registrations, the deletes of closures, the end phase and imports. It hands out a task when what it waits for is
// finished, by number and not by time (docs/decisions/0022-who-waits-for-whom.md).
//
// Invariant: the actor does no I/O. Package take does what it hands out.
package execute
