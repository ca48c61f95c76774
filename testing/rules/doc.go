// Package rules has the tests of the rules in docs/spec against the whole engine: each test runs operations of a stack, with
// a program that is a Go function and a simulated cloud, and checks the requests to providers, the recorded states and the
// events. It exports nothing.
//
// A test is about one rule, and its name states it. The common parts are the kit, which checks after each operation that the
// state is valid.
//
//   - kit_test.go is the stack: its operations, and its records
//   - kit_cloud_test.go is the cloud that it is in: what fails, and a spy for the requests to providers
//   - kit_program_test.go and kit_options_test.go make programs of functions that register and read
//   - kit_ran_test.go has the results of a finished operation
//
// A test reads like this:
//
//	k := newKit(t)
//	k.up(program(one(in{"size": 1})))
//	r := k.up(program(one(in{"size": 2})))
//	require.Equal(t, []string{"update a"}, r.changed())
//
// Package simulate, in contrast, generates random histories. determinism_test.go runs such histories under more timings than
// package simulate does. The order of goroutines is random too, so the test finds more if it runs often:
//
//	go test ./testing/rules -run TestOutcomeDoesNotDependOnTiming -count 10
package rules
