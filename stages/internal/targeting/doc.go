// Package targeting is the part of `--target` and `--exclude` that concerns what the program declares: it refuses names
// that mean nothing, and finds what is needed but was left out (steps.md section 9).
package targeting
