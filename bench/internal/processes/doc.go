// Package processes measures whole processes: sluice, the floor, which is a monitor without an engine, and the peers that are on PATH. All of
// them run by turns, with the same number of resources.
//
// Invariant: nobody's settings are used or changed: homes, states and configurations are in a folder that is removed in the end.
package processes
