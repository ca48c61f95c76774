// Package files answers questions about files, and replaces files so that a reader gets the whole former content or the whole new one.
//
// It is independent of the content of the files. Package private has files for their owner that are written in place.
//
// Invariant: a process that is killed, or a machine that loses its power, leaves the former file or the new one.
package files
