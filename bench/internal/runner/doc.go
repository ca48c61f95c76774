// Package runner runs the selected cases, each several times, and their contenders alternately, so that other load on the machine affects all of
// them.
//
// Invariant: the first run of each contender is a warm-up and in no result, unless it is a trial.
package runner
