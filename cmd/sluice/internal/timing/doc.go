// Package timing makes of the spans of a command what people look at: a file for Perfetto, tables of where the time went, and metrics.
//
// It measures nothing: the library makes the spans, and this package reads them as they begin and end. It sends nothing either; package
// traces has the exporters.
//
// Invariant: what is kept of a resource that is over is a few numbers and its name, so a large operation needs no more memory than it has anyway.
package timing
