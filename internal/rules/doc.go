// Package rules has the tests of the specification's rules against the whole engine: each runs operations of a stack, with a
// program that is a Go function and a made-up cloud, and looks at what the providers were asked, what was recorded and what
// the events said. There is nothing in it to import.
//
// A test is about one rule and its name states it. The kit (kit_test.go) has what they share: a stack in its cloud, programs
// that register, read and fail, and what is to be seen of an operation that is over. After each operation the kit checks that
// the state is sound.
//
// Package simulate, in contrast, makes up histories that nobody has thought of; determinism_test.go runs such histories
// under more timings than it does there. Chance has a part in what goroutines do first, so it finds more if it runs often:
//
//	go test ./internal/rules -run TestOutcomeDoesNotDependOnTiming -count 10
package rules
