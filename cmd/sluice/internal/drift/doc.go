// Package drift finds what is not as it is recorded, and what an update would do about it.
//
// It is in floors: a [Document] says what was found; a refresh that changes nothing reads the resources and makes one; an update that changes nothing
// adds what would be done; [Run] does both, and writes the Document. The engine decides what has moved. This package compares values only to name
// what differs where a provider does not.
//
// Invariant: nothing is changed and nothing recorded but when each resource was read, and there is no secret in a Document.
package drift
