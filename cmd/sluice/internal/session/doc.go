// Package session opens what a command works on: a project, its backend and a stack with its settings and secrets.
//
// It does not run operations.
//
// Invariant: nothing is written before a command asks for it, except by the completion of an interrupted rename.
package session
