// Package urn is the grammar of resource names: it builds, parses, matches and rewrites URNs, provider references and
// aliases. The names of stacks, projects, packages and plugins are part of it, for they are parts of URNs: [IsName],
// [CheckPackageName] and [CheckPluginName] define them for all packages.
//
// It is not a registry. It does not know which resources exist, which alias was taken by whom, or what a provider is;
// callers pass such knowledge in as functions.
//
// Its one invariant: everything here is a pure function of its arguments, and an accessor of a malformed URN returns
// empty text and never panics. Text from outside becomes a URN through [Parse] or [ParseProviderRef].
package urn
