// Package policy runs policy packs: programs of the user that judge resources (protocol.md 7). A [Pack] is a folder with a
// PulumiPolicy.yaml; loading it starts its process and returns an [Analyzer], which satisfies stages.Analyzer.
//
// A [Remote] pack is fetched and installed first. The package decides nothing: package stages decides what a violation leads to.
//
// Invariant: a pack whose Load returns an error leaves no process behind, and one that was loaded leaves none after Close.
package policy
