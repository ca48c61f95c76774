// Package spec reads fleet.yaml: the stacks of a fleet, their dependencies, and their schedules.
//
// It does not run anything, and reads no state: package worker finds the stacks that read outputs of others.
//
// Invariant: the names, paths, URLs and refs of a [Fleet] are safe as arguments of other programs: none can be mistaken for an option, and no path leaves
// the folder of the fleet.
package spec
