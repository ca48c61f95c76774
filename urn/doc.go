// Package urn implements the grammar of resource names: it builds, parses, matches and rewrites URNs, provider references
// and aliases. URNs contain the names of stacks, projects, packages and plugins, so their grammar is here too: [IsName],
// [CheckPackageName] and [CheckPluginName].
//
// The package is not a registry. Which resources exist, which resource has taken an alias and what a provider is come
// from its callers, as functions.
//
// Invariant: everything here is a pure function of its arguments. An accessor of a malformed URN returns
// an empty string and never panics. [Parse] and [ParseProviderRef] convert text from outside.
package urn
