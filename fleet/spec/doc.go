// Package spec reads fleet.yaml: which stacks a fleet has, what they need, and when they are looked at.
//
// It does not run anything, and reads no state: which stacks read the outputs of others is found by package worker.
//
// Invariant: the names, paths, URLs and refs of a [Fleet] are safe to give to other programs: none can be taken for an option, and no path leaves the
// folder of the fleet.
package spec
