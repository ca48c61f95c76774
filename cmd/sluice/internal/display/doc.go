// Package display turns the events of an operation into output for people and programs: a log, a live line on a
// terminal, property diffs, JSON documents and the event log (protocol.md 9 and 10).
//
// It decides nothing and counts only events.
//
// Invariant: property values are read through one function, [visible], which never returns the content of a secret
// unless the user has requested secrets.
package display
