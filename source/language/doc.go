// Package language runs programs through language plugins: the executables "pulumi-language-<runtime>", each of which can install the
// dependencies of programs in one language, build them and start them ([protocol.md 6.1]).
//
// It does not find plugins; package providers/plugin does.
//
// Invariant: Close stops the plugin of a Program with everything that it started.
//
// [protocol.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#61-language-plugins
package language
