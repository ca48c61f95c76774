// Package composing has examples built from the engine: an estimate of costs, an approval gate, an audit trail, a controller, and drift over many
// stacks. Each is a file with its tests, to be copied; docs/composing.md explains them.
package composing
