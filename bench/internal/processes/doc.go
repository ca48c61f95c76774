// Package processes measures whole processes: sluice, the floor, which is a monitor without an engine, and the peers on PATH. They run
// alternately, with the same number of resources.
//
// Invariant: no settings of the user are used or changed: homes, states and configurations are in a folder that is removed in the end.
package processes
