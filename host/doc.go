// Package host hosts what the engine calls: programs in languages and in YAML, plugins, policy packs, converters, the service that programs and
// plugins call, and the backends in which states are recorded. Package sluice is the engine, and links none of them.
//
// [NewPluginHost] starts provider plugins, [NewProgram] and [WithProgramIn] run programs, [OpenBackend] opens a backend, and
// [Locked] holds the lock of a stack during operations. They make the values for the options of package sluice.
package host
