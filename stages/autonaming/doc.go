// Package autonaming names resources to which a program gives no name, by the rules of the project's configuration
// (pulumi:autonaming, [steps.md 3.5]).
//
// It only proposes names; providers use or refuse them.
//
// Invariant: the name of a resource depends on the configuration, its URN and its random seed, and on nothing else.
//
// [steps.md 3.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#35-check
package autonaming
