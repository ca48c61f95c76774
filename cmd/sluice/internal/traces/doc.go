// Package traces sends the traces and metrics of a command to where the user wants them: a collector that understands OTLP, or a file.
//
// It makes only the span of the command; the library makes those of an operation, and package timing makes metrics of them.
//
// Invariant: a command behaves and ends as it does without traces, whatever becomes of them. What went wrong is one message at the end.
package traces
