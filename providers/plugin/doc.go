// Package plugin finds provider plugins, runs them as processes and calls them over gRPC ([protocol.md 1], [protocol.md 2.5], 3).
// [Host] does all three and satisfies providers.Host; [Finder] and [Start] are its first two parts, for plugins of
// other kinds.
//
// It installs nothing itself: a missing plugin is an error, unless the caller gives a function that installs it (package
// install has one). It does not decide when providers are configured or what their answers mean.
//
// Invariant: every process that is started is waited for, and its whole process group has ended when Close returns. A
// call on a process that dies ends at once with an error that reports this.
//
// [protocol.md 1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#1-processes-and-plugins
// [protocol.md 2.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#25-what-is-sent-how
package plugin
