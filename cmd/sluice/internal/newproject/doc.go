// Package newproject makes projects and stacks from templates, for `sluice new`.
//
// Invariant: all refusals come before the first file is written, and if the stack cannot be created, no file is left.
package newproject
