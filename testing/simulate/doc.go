// Package simulate generates whole histories of stacks and runs them, to find broken promises of the engine.
//
// A [Case] is a history: a sequence of operations, each with its program, changes outside the engine before it, the calls that fail, its
// flags and its interrupts. It is plain data; a failure prints its JSON, and testdata/cases keeps such JSON. [Generate] draws a case from
// a source of choices. [Check] runs one and fails the test with a smaller case that fails too.
//
// Every operation runs several times from the same state and the same cloud, each time with other latencies and another number of workers,
// inside a testing/synctest bubble, in which waiting takes no time and a deadlock is an error. The history continues with the result of
// the first run. Whatever the timing,
//
//   - each state that was recorded during the operation is valid, and so is the last one;
//   - an operation is recorded before its provider is called and ended after that;
//   - no two calls change one object at once, and deletes come in the order of dependencies;
//   - nothing is lost and nothing leaks: every object that exists is in the state, and the other way round; there are no more
//     objects of uncertain outcome than the state has pending operations for them;
//   - a call cut off by the death of the engine or of a plugin stays pending, and may take effect at any time later, or never
//     (late.go); a recovery after that finds what it created, and makes no decision that contradicts what exists;
//   - a read of the state during an operation, or after its death, shows every record that was durable before, none that was
//     not made, and a valid state (witness.go); after a death, the history continues with the recovered state;
//   - of several engines that begin at once one works at a time, under the lock of package lock, and begins with the state
//     recorded by the one before, even if that one has died (race.go);
//   - an update deletes an object only if its program ended without a failure and did not declare the resource, or because of
//     a replacement; and never the object of a resource that the program protects or retains from now on. A destroy deletes
//     recorded objects that are neither protected, retained nor left out; a refresh, an import and a recovery change no object,
//     except those that depend on a provider that a refresh replaces (verify_grounds.go);
//   - an object that an update deletes first, while its program runs, is deleted after the old objects of its dependents, if
//     those could be known (verify_order.go);
//   - no unknown is recorded, or sent to a call that changes something;
//   - a stack that reads the outputs of another one gets the recorded ones, secrets as secrets, and fails if and only if it
//     uses an output that it cannot decrypt (reader.go);
//   - a preview changes nothing and shows what the update does, except for an import of an object that the same update has
//     changed before under another name;
//   - repeating an update or a refresh changes nothing, unless it reads an object that was changed under another name, and a
//     destroy leaves nothing;
//   - at most as many calls change objects at once as there are workers, and at most as many policies check a resource at once
//     as allowed;
//   - a resource that violates a mandatory policy is neither created nor updated, and the other policies, the provider and
//     the state get remedied values (policy.go);
//   - a resource that a caller's stage refuses is neither created nor updated, and the provider gets the changes of a stage
//     (slots.go);
//   - the events report the beginning and the end of every step.
//
// With the exceptions of decision 0002 (promise.go), plan, state, errors and waves of deletion are the same for every timing.
//
// Refreshes and destroys are tried with and without the program, and updates with a refresh are also tried with the program during the
// refresh (decision 0012); the promises are the same.
//
// It is not a model of the engine: it cannot check which steps are right. The tests of the rules (package rules) do that.
//
// To search for faults for any length of time, from a seed that is printed:
//
//	go test ./testing/simulate -run TestRandomCases -timeout 0 -simulate.for 1h
//
// To let Go's fuzzer choose, guided by coverage:
//
//	go test ./testing/simulate -run '^$' -fuzz FuzzEngine
//
// A case that fails is printed as JSON. Put it into testdata/cases, where TestKnownCases runs it from then on.
//
// Invariant: the result of a case depends on the case alone, except for the order in which engines get the lock, because waiting for it is
// random.
package simulate
