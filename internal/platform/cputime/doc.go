// Package cputime measures the processor time of this process. Unlike elapsed time, it hardly depends on the load of the
// machine.
//
// Invariant: the time never decreases.
package cputime
