package sluice

import "github.com/sluice-iac/sluice/source/engine"

// Version is the version of this library and of the command line.
const Version = "0.1.0"

// manifestVersion is what states name as their writer (state.md 1.5).
const manifestVersion = "sluice/" + Version

// PulumiVersion is the version of Pulumi whose behaviour sluice has: what programs and projects compare with.
const PulumiVersion = engine.CompatibilityVersion

// SatisfiesPulumiRange tells whether [PulumiVersion] lies in a range as projects and programs write it, for example
// ">=3.5.0 !3.7.7 || 4.x" (state.md 6.1). What is no range is an error.
func SatisfiesPulumiRange(text string) (bool, error) { return engine.Satisfies(text) }
