// Package autonaming names resources that a program leaves nameless, as the project's configuration says
// (pulumi:autonaming, steps.md 3.5).
//
// It only proposes names; providers use or refuse them.
//
// Invariant: the name of a resource depends on the configuration, its URN and its random seed, and on nothing else.
package autonaming
