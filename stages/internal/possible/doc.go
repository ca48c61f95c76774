// Package possible finds the changes of a preview that are only possible, and the unknown values on which they depend.
//
// It decides nothing: the steps for a resource do not depend on it. It is about previews; in an update all values are known.
//
// Invariant: a change is certain or possible according to the values that the preview knows, and not according to timing.
package possible
