// Package policy runs policy packs: programs of the user that check resources ([protocol.md 7]). A [Pack] is a folder with a
// PulumiPolicy.yaml; loading it starts its process and returns an [Analyzer], which implements stages.Analyzer.
//
// A [Remote] pack is fetched and installed first. Package stages, not this one, decides about violations.
//
// Invariant: a pack leaves no process behind if its Load returns an error, and none after Close.
//
// [protocol.md 7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#7-policy-packs
package policy
