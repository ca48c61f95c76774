// Package endphase is the phase after the program has ended: it deletes what the program no longer declares, what replacements left behind, and in a
// destroy everything (steps.md 5).
//
// Invariant: all deletes are decided before the first one runs. Execute orders them as tasks.
package endphase
