// Package convert converts programs and states of other tools, with converter plugins ([protocol.md 5.6]).
//
// Nothing in it depends on the tools. It serves converters the mappings between the names of the tools' providers and those of packages,
// and the schemas of packages.
//
// Invariant: Close ends a converter and everything that it started.
//
// [protocol.md 5.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#56-converters
package convert
