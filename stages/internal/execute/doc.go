// Package execute orders the tasks of a run. One actor owns a ready set of all tasks: the steps of registrations, the deletes of
// closures, the end phase and imports. It hands out a task when the tasks before it are finished, by number and not by time
// (docs/decisions/0022-who-waits-for-whom.md).
//
// Invariant: the actor does no I/O. Package step executes the tasks that it hands out.
package execute
