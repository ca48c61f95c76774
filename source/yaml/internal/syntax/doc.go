// Package syntax turns the text of YAML and JSON programs into trees of nodes that know where they stand, and shows what
// is wrong with a program at the place where it is wrong.
//
// It knows nothing of resources: what the nodes mean is the business of package ast.
//
// Invariant: every node has a place in the file, and a file that is malformed leads to a diagnostic and never to a panic.
package syntax
