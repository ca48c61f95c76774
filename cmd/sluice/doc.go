// Command sluice previews, makes and destroys stacks of infrastructure that programs declare. It reads the projects,
// programs, plugins and state of Pulumi.
//
// It is a client of package sluice: it reads files, asks questions, calls the engine and shows events. What an update
// does is not decided here.
//
// The root of the tree of commands knows their constructors. A command knows packages below internal and what files of this
// package share, and no other command.
//
// Invariant: a command that takes the lock of a stack gives it back on every way out but a kill.
package main
