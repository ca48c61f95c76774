// Package sim is a built-in provider of make-believe resources, for benchmarks, demonstrations and tests: a fake cloud with
// the latency, the failures, the throttling and the drift that its configuration asks for.
//
// The cloud is in memory, where it lasts as long as the provider, or in a directory: one JSON file for each resource, which
// anybody may read, change, delete or add while nothing runs.
//
// Invariant: what happens to a call is drawn from the seed, the URN, the method and the number of the attempt, never from
// the order in which calls come.
package sim
