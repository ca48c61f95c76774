// Package closure decides which dependents are members of the closure of a delete-before-replace (steps.md 3.11). For each of them,
// in the order of the graph, a call of its provider finds out whether it would have to be replaced as well.
//
// Invariant: the members and their order depend on the recorded state and the answers only, not on the order of the answers.
package closure
