// Package syntax parses documents in YAML and JSON, such as programs, into trees of nodes with their places in the file, and shows mistakes at
// their places.
//
// It does not interpret the nodes.
//
// Invariant: every node has a place in the file, and a file that is malformed leads to a diagnostic and never to a panic.
package syntax
