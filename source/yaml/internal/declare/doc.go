// Package declare registers the resources of a YAML program with the engine, or reads them: it puts what a resource says into a
// registration, with its options (protocol.md 11.4), and makes a resource of the answer.
//
// It does not say when a resource is declared; what it needs must be there.
//
// Invariant: everything about a resource is evaluated before it is given up, so that all of its mistakes are reported.
package declare
