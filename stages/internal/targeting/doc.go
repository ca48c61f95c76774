// Package targeting is the part of `--target` and `--exclude` that concerns the program's resources: it refuses names of unknown
// resources, and finds resources that are needed but left out (steps.md section 6).
package targeting
