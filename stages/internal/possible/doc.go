// Package possible finds out which of the changes that a preview predicts are only possible, and on which unknown values they hang.
//
// It decides nothing: what is done about a resource does not depend on it. It is about previews; in an update all values are known.
//
// Invariant: a change is said to be certain, or possible, by what the preview knows of it alone, so that this does not depend on timing.
package possible
