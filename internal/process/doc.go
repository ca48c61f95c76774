// Package process starts processes whose lives end with that of this one, and ends those that a dead one has left.
//
// A program, plugin or command that goes on working after its engine has been killed changes things that nobody records.
// So each leads a process group with a guard: a shell that waits at a pipe, of which this process has the other end. When
// this process dies, however it does, the system closes the pipe, and the guard kills the group. Windows does the same with
// a job that is closed.
//
// A guard may be killed together with the engine. So each process also has a variable in its environment that names the
// engine, and the descendants of the process inherit it. Where the system shows the environments of processes (Linux),
// whoever takes over from a dead engine finds by it what that engine has left.
//
// What a process leaves in the background when it has ended is not the engine's any more, and nothing here ends it but
// [Group.Kill].
package process
