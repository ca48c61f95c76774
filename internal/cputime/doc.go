// Package cputime says how much processor time this process has used. Unlike time by the clock, it hardly depends on what
// else the machine does.
//
// Invariant: what it says never decreases.
package cputime
