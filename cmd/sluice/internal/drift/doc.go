// Package drift finds drift, and predicts what an update would do about it.
//
// It has layers: a refresh that changes nothing reads the resources and makes a [Document]; an update that changes nothing adds the predictions;
// [Run] does both, and writes the Document. The engine decides which resources have drifted. This package compares values only to name the differing
// properties if a provider does not.
//
// Invariant: nothing is changed, nothing is recorded except when each resource was read, and a Document contains no secret.
package drift
