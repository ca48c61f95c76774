// Package printable makes texts of others safe to print: messages of programs, plugins and services, and names in recorded states.
//
// It does not know what a text means. What is a secret is masked elsewhere (package redact).
//
// Invariant: nothing that this package returns or passes on is a command for a terminal, hides a part of a text, or changes the direction
// or the place of what follows, unless a [Writer] is for styled texts and it is a change of colour.
package printable
