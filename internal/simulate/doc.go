// Package simulate generates whole histories of stacks and runs them, to find out whether the engine keeps its promises.
//
// A [Case] is a history: operations one after the other, each with its program, what happened behind the engine's back
// before it, the calls that fail, its flags and its interrupts. It is plain data; its JSON is what a failure prints and what
// testdata/cases keeps. [Generate] draws one from a source of choices, [Check] runs one and fails the test with a smaller
// case that fails too.
//
// Every operation runs several times from the same state and the same cloud, each time with other latencies and another
// number of workers, inside a testing/synctest bubble, where waiting costs nothing and a deadlock is an error. The history
// continues with what the first of them left. Whatever the timing,
//
//   - each state that was recorded on the way is valid, and so is the last one;
//   - an operation is recorded before its provider is called and ended after that;
//   - no two calls change one object at once, and deletes come in the order of dependencies;
//   - nothing is lost and nothing leaks: every object that exists is in the state, and the other way round; of those that
//     are in doubt there are no more than the state has doubts;
//   - a call that the death of the engine or of a plugin cuts off stays pending, and may take effect at any time later, or never
//     (late.go); a recovery after that finds what it made, and decides nothing against what exists;
//   - whoever reads the state while an operation runs, or after its death, sees every record that was durable before, none
//     that was not made, and a valid state (witness.go); what is recovered after a death is what the history goes on with;
//   - of several engines that begin at once one works at a time, under the lock of package lock, and begins with what the one
//     before has recorded, also if that has died (race.go);
//   - an update deletes an object only if its program ended without a failure and did not declare the resource, or because of a
//     replacement; and never the object of a resource that the program protects or retains from now on. A destroy deletes what is recorded
//     and neither protected, retained nor left out; a refresh, an import and a recovery change no object, but for what goes with a
//     provider that a refresh replaces (verify_grounds.go);
//   - what an update deletes first, while its program runs, comes after the old objects of its dependents, if those could be known
//     (verify_order.go);
//   - no unknown is recorded, or sent to a call that changes something;
//   - a stack that reads the outputs of another one gets what that has recorded, secrets as secrets, and fails if and only if it uses an
//     output that it cannot decrypt (reader.go);
//   - a preview changes nothing and shows what the update does;
//   - an update or a refresh that is done again does nothing, and a destroy leaves nothing;
//   - no more calls change objects at once than there are workers, and no more policies judge a resource at once than allowed;
//   - what violates a mandatory policy is neither created nor updated, and what a policy remedies is so for the other policies,
//     for the provider and in the state (policy.go);
//   - what a caller's stage refuses is neither created nor updated, and what it changes comes to the provider (slots.go);
//   - the events report the beginning and the end of every step.
//
// And except where decision 0002 says otherwise (promise.go), plan, state, errors and waves of deletion are the same for every
// timing.
//
// Refreshes and destroys are tried with and without the program, and updates that refresh are tried refreshing by it
// (decision 0012); the promises are the same.
//
// It is not a model of the engine: it cannot judge which steps are right. The tests of the rules (package rules) do that.
//
// To look for faults, for as long as you like, from a seed that is printed:
//
//	go test ./internal/simulate -run TestRandomCases -timeout 0 -simulate.for 1h
//
// To have Go's fuzzer choose, guided by coverage:
//
//	go test ./internal/simulate -run '^$' -fuzz FuzzEngine
//
// A case that fails is printed as JSON. Put it into testdata/cases, where TestKnownCases runs it from then on.
//
// Invariant: what a case does depends on the case alone, but for the order in which engines get the lock: waiting for that is
// random by itself.
package simulate
