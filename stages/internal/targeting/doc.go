// Package targeting is the part of `--target` and `--exclude` that concerns what the program declares: it refuses names
// of unknown resources, and finds what is needed but was left out (steps.md section 6).
package targeting
