// Package declare registers the resources of a YAML program with the engine, or reads them: it makes a registration from the properties and
// options of a resource (protocol.md 11.4), and a resource from the reply.
//
// It does not decide when a resource is declared; the needs of the resource must have values.
//
// Invariant: everything about a resource is evaluated before a failure ends its declaration, so that all of its mistakes are reported.
package declare
