// Package renames finds planned deletes and creates that look like one resource under two names: the program has renamed or moved
// it, and an alias would keep it.
//
// It reads the steps of a preview and changes nothing. Only the author of the program can confirm that it was a rename.
//
// Invariant: a resource is in one rename at most, a protected one in none, and no secret is compared.
package renames
