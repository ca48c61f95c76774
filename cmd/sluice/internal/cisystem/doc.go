// Package cisystem recognises the CI system that runs the process, by the variables of its environment. It has the only list of them: what is done in CI
// is up to others. The invariant: whoever asks about one environment gets one answer.
package cisystem
