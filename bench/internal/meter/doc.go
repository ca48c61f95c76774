// Package meter measures what a function of this process, or a process, takes: time, processor time, memory, goroutines and what is written.
//
// Invariant: nothing is measured while a reading is prepared or taken away; garbage of what was before is collected first.
package meter
