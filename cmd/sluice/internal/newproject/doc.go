// Package newproject makes projects and stacks from templates, for `sluice new`.
//
// Invariant: everything that can be refused is refused before a file is written, and if the stack cannot be made no file is
// left.
package newproject
