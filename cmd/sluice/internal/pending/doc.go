// Package pending decides about interrupted operations: how to resolve them, and how they were resolved.
//
// It changes nothing: the engine carries out the decisions.
package pending
