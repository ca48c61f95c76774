// Package bind binds the names in a YAML program: it finds the node of every "${...}", the default provider of a resource, and an order in
// which each resource and variable comes after its needs (protocol.md 11.4, 11.6).
//
// It evaluates nothing and uses no schemas. Settings are evaluated before names are bound; the caller adds them.
//
// Invariant: a program without errors refers only to names that exist, and nothing in it depends on itself.
package bind
