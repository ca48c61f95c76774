// Package printable makes foreign texts safe to print: messages of programs, plugins and services, and names in recorded states.
//
// It is independent of the meaning of a text. Package redact masks secrets.
//
// Invariant: the output of this package contains no terminal command, and no character that hides a part of a text, or changes the
// direction or the place of what follows. The only exception is a change of colour in a [Writer] for styled texts.
package printable
