// Package timing evaluates the spans of a command: it writes a file for Perfetto, tables of where the time went, and metrics.
//
// It measures nothing: the library makes the spans, and this package processes them when they begin and end. It sends nothing either; package
// traces has the exporters.
//
// Invariant: of a finished resource it keeps a few numbers and the name, so a large operation needs no more memory than it has anyway.
package timing
