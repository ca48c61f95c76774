package sluice

// Version is the version of this library and of the command line.
const Version = "0.1.0"

// manifestVersion is the name of the writer in states (state.md 1.5).
const manifestVersion = "sluice/" + Version
