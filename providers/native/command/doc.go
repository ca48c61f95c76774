// Package command is the built-in provider of the package "command": commands that run, here or over SSH, when a
// resource is made, changed and deleted, and files that are copied to another machine.
//
// It has the shapes and rules of the public package of that name, so that a stack can change between the two.
//
// Invariant: nothing runs in a preview, and no process of a cancelled local command outlives it.
package command
