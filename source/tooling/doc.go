// Package tooling defines what the tools of a programming language do for sluice besides running programs: they run plugins in source
// form, install dependencies, generate SDKs and wait for debuggers. The folders of package source implement it.
//
// It is above the engine, which runs programs and starts no process.
//
// Invariant: values keep no process or connection; the servers of started plugins belong to the caller.
package tooling
