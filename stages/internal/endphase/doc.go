// Package endphase is the phase after the program has ended. It deletes the resources that the program no longer declares, the old
// copies that replacements left behind, and in a destroy everything (steps.md 5).
//
// Invariant: all deletes are decided before the first one runs. Execute orders them as tasks.
package endphase
