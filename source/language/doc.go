// Package language runs programs through language plugins, the "pulumi-language-<runtime>" executables that know how to
// install, build and start programs of one language (protocol.md 6.1).
//
// It does not find plugins; package providers/plugin does.
//
// Invariant: a plugin that was started is stopped, with everything it started, when the Program is closed.
package language
