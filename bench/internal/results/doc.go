// Package results has what the benchmarks find out: figures of runs, statistics over them, and the machine on which they ran. It measures
// nothing and prints nothing.
//
// Invariant: every run that was measured is in a result; statistics are computed from the runs, never stored instead of them.
package results
