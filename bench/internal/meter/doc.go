// Package meter measures a function of this process, or a process: time, processor time, memory, goroutines and written bytes.
//
// Invariant: the preparation and the processing of a reading are not measured; earlier garbage is collected first.
package meter
