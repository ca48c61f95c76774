// Command sluice previews, makes and destroys stacks of infrastructure that programs declare. It reads the projects,
// programs, plugins and state of Pulumi.
//
// It is a client of package sluice: it reads files, asks questions, calls the engine and shows events. The engine
// decides what an update does.
//
// The root command calls the constructors of the other commands. A command uses packages below internal and shared
// files of this package, but no other command.
//
// Invariant: a command that takes the lock of a stack releases it however it ends, except after a kill.
package main
