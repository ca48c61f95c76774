// Package closure decides which dependents are members of the closure of a delete-before-replace (steps.md 3.11): it asks
// providers, for each of them in the order of the graph, whether it would have to be replaced as well.
//
// Invariant: the members and their order depend on the recorded state and the answers only, not on which answer is first.
package closure
