// Package traces sends the traces and metrics of a command to the destination that the user chose: a collector that accepts OTLP, or a
// file.
//
// It makes only the span of the command; the library makes those of an operation, and package timing makes metrics from them.
//
// Invariant: a command behaves and ends as it would without traces, even if they cannot be sent. An error is one message at the end.
package traces
