// Package declare registers the resources of a YAML program with the engine, or reads them: it turns the properties
// and options of a resource into a registration (protocol.md 11.4), and makes a resource from the reply.
//
// It does not decide when a resource is declared; what the resource needs must be there.
//
// Invariant: everything about a resource is evaluated before it is abandoned, so that all of its mistakes are reported.
package declare
