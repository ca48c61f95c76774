// Package sim is a built-in provider of simulated resources, for benchmarks, demonstrations and tests: a fake cloud whose
// configuration defines its latency, failures, throttling and drift.
//
// The cloud is in memory, where it lasts as long as the provider, or in a directory: one JSON file for each resource, which
// anybody may read, change, delete or add while nothing runs.
//
// Invariant: the fate of a call is drawn from the seed, the URN, the method and the number of the attempt, never from the
// order in which calls come.
package sim
