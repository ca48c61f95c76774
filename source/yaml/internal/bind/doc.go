// Package bind gives the names in a YAML program their meaning: it finds what every "${...}" refers to, which default provider
// a resource uses, and an order in which each resource and variable comes after what it needs (protocol.md 11.4, 11.6).
//
// It evaluates nothing and knows no schemas. Settings, which are evaluated before names are bound, are entered by the caller.
//
// Invariant: a program that was bound without errors refers only to what there is, and nothing in it depends on itself.
package bind
