// Package process starts processes that end with this one, and ends those that a dead process has left.
//
// A program, plugin or command that goes on after its engine was killed makes changes that nothing records. So each leads a
// process group with a guard: a shell that waits at a pipe whose other end this process holds. When this process dies, for
// whatever reason, the system closes the pipe, and the guard kills the group. Windows does the same when a job is closed.
//
// A guard may be killed together with the engine, and an engine may be killed between the start of a process and that of its
// guard. So each process also has an environment variable that names the engine, and its descendants inherit it. If the system
// shows the environments of processes (Linux), the process that takes over from a dead engine finds the orphans by that
// variable.
//
// Background processes that outlive the process that started them no longer belong to the engine, and only [Group.Kill]
// ends them.
package process
