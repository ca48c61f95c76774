// Package session opens the objects of a command: a project, its backend and a stack with its settings and secrets.
//
// It does not run operations.
//
// Invariant: nothing is written before a command requests it, except by the completion of an interrupted rename.
package session
