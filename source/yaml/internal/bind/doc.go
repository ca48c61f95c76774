// Package bind gives the names in a YAML program their meaning: it finds what every "${...}" refers to, which default provider
// a resource uses, and an order in which each resource and variable comes after what it needs (protocol.md 11.4, 11.6).
//
// It evaluates nothing and uses no schemas. Settings are evaluated before names are bound; the caller adds them.
//
// Invariant: a program that was bound without errors refers only to names that exist, and nothing in it depends on itself.
package bind
