// Package results has the results of the benchmarks: figures of runs, statistics over them, and the machine. It measures nothing and
// prints nothing.
//
// Invariant: every measured run is in a result; statistics are computed from the runs, never stored instead of them.
package results
